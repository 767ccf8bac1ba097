select
    {{ library_version_key() }} as library_version_key,
    {{ library_key() }} as library_key,
    owner,
    library_name,
    valid_from,
    valid_to,
    removed_at is not null as is_removed,
    library_versions.package_name,
    library_versions.package_version,
    in_use.versions_behind,
    file_size_bytes,
    last_modified_at,
    run_id
from {{ source('simcat', 'library_versions') }} as library_versions
left join {{ source('simcat', 'package_versions') }} as in_use
    on in_use.package_name = library_versions.package_name and in_use.package_version = library_versions.package_version
