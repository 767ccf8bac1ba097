{#- Keys of the rows that have these columns. Owner and name may hold any character but NUL, so their lengths keep the parts apart. -#}

{% macro library_key() %}length(owner) || ':' || owner || '/' || library_name{% endmacro %}

{% macro scenario_key() %}length(owner) || ':' || owner || '/' || length(library_name) || ':' || library_name || '/' || scenario_id{% endmacro %}

{% macro parent_key() %}length(owner) || ':' || owner || '/' || length(library_name) || ':' || library_name || '/' || parent_id{% endmacro %}

{% macro event_key() %}kind || '/' || to_char(seen_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '/' || length(owner) || ':' || owner || '/' || length(library_name) || ':' || library_name || '/' || coalesce(scenario_id::text, ''){% endmacro %}

{% macro library_version_key() %}to_char(valid_from at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '/' || length(owner) || ':' || owner || '/' || library_name{% endmacro %}
