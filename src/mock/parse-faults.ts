import { isEditName } from "./edits.ts";
import type { Fault, FaultAction, FaultMatch } from "./faults.ts";

type Shape = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isTextRecord = (value: unknown): boolean => isRecord(value) && Object.values(value).every(isText);
const isHeaders = (value: unknown): boolean =>
  isRecord(value) && Object.values(value).every((each) => isTextOrNull(each) || isTexts(each));
const oneOf =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);

/** The fields of each action; a name that ends with `!` is required. */
const ACTIONS = {
  status: { "status!": isNumber, headers: isHeaders, body: isText, keepBody: isFlag },
  wrongBody: { text: isText, base64: isText, contentType: isTextOrNull },
  html: {},
  badGzip: {},
  unknownEncoding: { encoding: isText },
  gzipBomb: { "bytes!": isNumber },
  redirect: { status: isNumber, "location!": isTextOrNull },
  headers: { "set!": isHeaders },
  hugeHeaders: { bytes: isNumber },
  bom: {},
  invalidUtf8: {},
  emptyList: {},
  placeholder: { inList: isFlag },
  dropItems: { from: isNumber, count: isNumber },
  alterItem: {
    "index!": (value) => value === "all" || isNumber(value),
    set: isRecord,
    setSource: isTextRecord,
    remove: isTexts,
    source: isText,
  },
  duplicateItem: { "index!": isNumber, set: isRecord },
  delay: { "ms!": isNumber },
  reset: { afterBytes: isNumber },
  truncate: { how: oneOf("length", "chunked", "close"), bytes: isNumber },
  hang: { after: (value) => isNumber(value) || value === "nothing" || value === "head" },
  drip: { "bytes!": isNumber, "everyMs!": isNumber },
  closeKeepAlive: { when: oneOf("nextRequest", "afterAnswer") },
  throttle: { perSecond: isNumber, inFlight: isNumber, status: isNumber, retryAfter: isText },
  between: { when: oneOf("before", "after"), "edit!": (value) => typeof value === "string" && isEditName(value) },
} as const satisfies Record<FaultAction["kind"], Shape>;

const MATCH: Shape & Record<keyof FaultMatch, unknown> = {
  operation: oneOf("listing", "metadata", "scenarios", "any"),
  owner: isText,
  library: isText,
  path: isText,
  pathPattern: isText,
};

const FAULT: Shape & Record<string, unknown> = {
  match: isRecord,
  times: (value) => value === "always" || isNumber(value),
  skip: isNumber,
  probability: isNumber,
  "action!": (value) => isRecord(value) || (Array.isArray(value) && value.every(isRecord)),
};

/** Reads a script of faults from JSON. Throws an error that names every problem and where it is. */
export function parseFaults(text: string): readonly Fault[] {
  const value: unknown = JSON.parse(text);
  const problems = Array.isArray(value) ? value.flatMap(checkFault) : ["a script is a list of faults"];
  if (problems.length > 0) throw new Error(`the script of faults is not valid:\n${problems.join("\n")}`);
  return value as readonly Fault[];
}

function checkFault(fault: unknown, index: number): string[] {
  const at = `fault ${index}`;
  if (!isRecord(fault)) return [`${at} is not an object`];
  const actions: readonly unknown[] = Array.isArray(fault.action) ? fault.action : [fault.action];
  return [
    ...checkShape(fault, FAULT, at),
    ...(isRecord(fault.match) ? checkShape(fault.match, MATCH, `${at}, match`) : []),
    ...actions.flatMap((action) => (isRecord(action) ? checkAction(action, at) : [])),
  ];
}

function checkAction({ kind, ...fields }: Record<string, unknown>, at: string): string[] {
  if (typeof kind !== "string" || !isActionKind(kind)) return [`${at}: there is no action "${String(kind)}"`];
  return checkShape(fields, ACTIONS[kind], `${at}, ${kind}`);
}

const isActionKind = (kind: string): kind is FaultAction["kind"] => Object.hasOwn(ACTIONS, kind);

function checkShape(value: Record<string, unknown>, shape: Shape, at: string): string[] {
  const unknown = Object.keys(value).filter((name) => !(name in shape) && !(`${name}!` in shape));
  const wrong = Object.entries(shape).flatMap(([wanted, isRight]) => {
    const name = wanted.replace("!", "");
    if (value[name] === undefined) return wanted === name ? [] : [`${at}: "${name}" is missing`];
    return isRight(value[name]) ? [] : [`${at}: "${name}" is not of a right kind`];
  });
  return [...unknown.map((name) => `${at}: there is no "${name}"`), ...wrong];
}
