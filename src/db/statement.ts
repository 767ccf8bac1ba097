/** Values by parameter name. */
export type StatementParameters = Readonly<Record<string, unknown>>;

/** A query as `pg` accepts it. */
export interface BoundStatement {
  readonly text: string;
  readonly values: unknown[];
}

/**
 * SQL with named parameters, such as `$run_id`. The returned function binds values to them; it ignores values that the
 * statement does not name.
 */
export function statement(sql: string): (parameters: StatementParameters) => BoundStatement {
  const names: string[] = [];
  const text = sql.replaceAll(/\$([a-z]\w*)/g, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return (parameters) => ({ text, values: names.map((name) => lookUp(parameters, name)) });
}

/** @throws TypeError if the parameter has no value; null is one */
function lookUp(parameters: StatementParameters, name: string): unknown {
  const value = parameters[name];
  if (value === undefined) throw new TypeError(`the statement's parameter $${name} has no value`);
  return value;
}
