import { formatSlice, type Slice } from "../slice.ts";

/** The lease that runs and `prune` hold, so that one of them writes at a time. A run of a slice has its own: `sync 3/8`. */
export const SYNC_LEASE = "sync";

export const leaseOf = (slice: Slice | undefined): string =>
  slice === undefined ? SYNC_LEASE : `${SYNC_LEASE} ${formatSlice(slice)}`;

/** The same in SQL; `scope` is SQL for the scope of a run. */
export const leaseOfScopeSql = (scope: string): string => `concat_ws(' ', '${SYNC_LEASE}', ${scope}->>'slice')`;

/** An SQL condition on SQL for two names: whether the leases exclude each other. All do, except two slices of the same count. */
export const excludesLeaseSql = (name: string, other: string): string =>
  `(${name} = ${other} OR split_part(${name}, '/', 2) IS DISTINCT FROM nullif(split_part(${other}, '/', 2), ''))`;
