CREATE OR REPLACE FUNCTION simcat_report.version_order(version text) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  WITH bare AS (
    -- Without a leading v, and without what follows a +: that names a build, not another version.
    SELECT string_to_array(
      regexp_replace(btrim(regexp_replace(version, '\+.*$', ''), E' \t\r\n'), '^[vV](?=[0-9])', ''), '.') AS parts
  ), cut AS (
    SELECT p.at, substring(p.part FROM '^[0-9]+') AS digits, regexp_replace(p.part, '^[0-9]+', '') AS rest
    FROM bare CROSS JOIN LATERAL unnest(bare.parts) WITH ORDINALITY AS p(part, at)
    UNION ALL
    -- 1.2 is 1.2.0: parts that are not there count as 0.
    SELECT at, '0', '' FROM bare CROSS JOIN LATERAL generate_series(cardinality(nullif(bare.parts, '{}')) + 1, 12) AS at
  ), numbered AS (
    SELECT at, ltrim(digits, '0') AS number, rest FROM cut
  )
  -- A number sorts by its length, then by its digits; what is no number before any; a part with a rest before the bare one.
  SELECT string_agg(
    coalesce(lpad((length(number) + 1)::text, 4, '0') || number, '0000')::bytea
      || CASE WHEN number IS NOT NULL AND rest = '' THEN '\xff'::bytea ELSE replace(rest, '\', '\\')::bytea END,
    '\x00'::bytea ORDER BY at)
  FROM numbered;
END;

COMMENT ON FUNCTION simcat_report.version_order(text) IS 'A sort key for package versions. It compares part by part as numbers: 10.0.0 is after 9.9.9, and 2.1 equals 2.1.0. A part that is not a number is before any number, 1.0.0-beta is before 1.0.0, and the text after a + is ignored. Use it as ORDER BY simcat_report.version_order(package_version). NULL: the version is NULL or empty.';
