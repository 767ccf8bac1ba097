const MASK = "***";

/** A shorter secret may be an ordinary word, such as `dev`. It is masked only in the password of a URL. */
export const MIN_SECRET_CHARS = 8;

/** A shorter part of a Base64 text occurs by chance. */
const MIN_BASE64_CHARS = 8;

/** Replaces secrets in all their forms by `***`. Only for messages: in JSON it could hit a key or a value that equals one. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const [short, long] = [secrets.filter(isShort), longestFirst(secrets.filter((secret) => !isShort(secret)))];
  const base64 = longestFirst(long.flatMap(base64FormsOf)).map(escapePattern);
  const sources = [...long.map(patternOf), ...base64, ...urlPatterns(short)];
  if (sources.length === 0) return (text) => text;
  const pattern = new RegExp(sources.join("|"), "g");
  return (text) => text.replace(pattern, MASK);
}

const isShort = (secret: string) => secret.length < MIN_SECRET_CHARS;

/** Longest first, so that one that contains another is replaced as a whole. */
const longestFirst = (texts: readonly string[]) => [...new Set(texts)].sort((a, b) => b.length - a.length);

/** Patterns of these passwords in a URL: before the `@` of its host, or in its query. */
function urlPatterns(passwords: readonly string[]): string[] {
  return longestFirst(passwords.filter((password) => password !== ""))
    .map(patternOf)
    .flatMap((form) => [`(?<=:)${form}(?=@)`, `(?<=password=)${form}(?=[&#\\s"'\\\\]|$)`]);
}

/** The passwords in a database URL, both as written and percent-decoded. */
export function databaseSecrets(url: string): string[] {
  const inAuthority = /^[a-z]+:\/\/[^:/?#]*:(.*)@/is.exec(url)?.[1];
  const inQuery = [...url.matchAll(/[?&](?:ssl)?password=([^&#]*)/gi)].map(([, password]) => password);
  const written = [inAuthority, parseDatabaseUrl(url)?.password, ...inQuery];
  return [...new Set(written.flatMap((secret) => (secret ? [secret, percentDecode(secret)] : [])))];
}

const PROXY_NAMES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/** The URL of a web hook, its path, which often contains a token, and its password. */
function webhookSecrets(url: string): string[] {
  if (!URL.canParse(url)) return [url];
  const { pathname, search } = new URL(url);
  return [...[url, `${pathname}${search}`].filter((secret) => !isShort(secret)), ...passwordSecrets(url)];
}

/** Every secret in an environment, even if its setting is malformed. */
export function environmentSecrets(environment: Readonly<Record<string, string | null | undefined>>): string[] {
  const { SIMCAT_API_KEY: key, DATABASE_URL: url, DATABASE_DIRECT_URL: direct, SIMCAT_NOTIFY_URL: hook } = environment;
  return [
    ...(key ? [key] : []),
    ...(hook ? webhookSecrets(hook) : []),
    ...[url, direct].flatMap((value) => (value ? databaseSecrets(value) : [])),
    ...PROXY_NAMES.flatMap((name) => passwordSecrets(environment[name])),
  ];
}

/** The password in the URL of a proxy or a web hook, alone and as a header contains it. */
function passwordSecrets(url: string | null | undefined): string[] {
  if (!url) return [];
  const passwords = databaseSecrets(url);
  return passwords.length === 0 || !URL.canParse(url) ? passwords : [...passwords, basicOf(new URL(url))];
}

/** The user and the password of a URL as the header of Basic authorization has them. */
export const basicOf = ({ username, password }: URL): string =>
  Buffer.from(`${percentDecode(username)}:${percentDecode(password)}`).toString("base64");

/** `URL` requires a host after a user name; the URL of a socket (postgres://user@/database?host=/directory) has none. */
const NO_HOST = "no-host.invalid";

/** Null if it is not a valid URL. */
export function parseDatabaseUrl(url: string): URL | null {
  const withHost = url.replace(/^([^/]*\/\/[^/?#]*@)(?=\/)/, `$1${NO_HOST}`);
  return URL.canParse(withHost) ? new URL(withHost) : null;
}

/** The URL for display, without its passwords. */
export function maskDatabaseUrl(url: string): string {
  const patterns = urlPatterns(databaseSecrets(url));
  return patterns.length === 0 ? url : url.replace(new RegExp(patterns.join("|"), "g"), MASK);
}

const HTML_NAMES: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };

/** A pattern of a secret as it is, and with any of its marks escaped as URLs, JSON (also within JSON) and HTML do. */
const patternOf = (secret: string): string =>
  secret.toWellFormed().replace(/[^a-z\d]/giu, (mark) => {
    const json = toHex(Buffer.from(mark, "utf16le").swap16()).replace(/.{4}/g, "\\\\{1,3}u$&");
    const letter = escapePattern(JSON.stringify(mark).at(-2) ?? "");
    const url = toHex(Buffer.from(mark)).replace(/../g, "%$&");
    const code = mark.codePointAt(0) ?? 0;
    const name = mark in HTML_NAMES ? `|${HTML_NAMES[mark]}` : "";
    const html = `&(?:#x0*${code.toString(16).toUpperCase()}|#0*${code}${name});`;
    const escaped = `${json}|${url}|${html}`.replace(/[A-F]/g, (digit) => `[${digit}${digit.toLowerCase()}]`);
    return `(?:\\\\{0,3}${escapePattern(mark)}|\\\\{1,3}${letter}|${escaped}${mark === " " ? "|\\+" : ""})`;
  });

const toHex = (bytes: Buffer) => bytes.toString("hex").toUpperCase();

/** The parts of the Base64 text that do not depend on the bytes around the secret, one for each of the three alignments. */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  const cores = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64url");
    const unstableEnd = (bytes.length + shift) % 3 === 0 ? 0 : 1;
    return text.slice(shift === 0 ? 0 : shift + 1, text.length - unstableEnd);
  });
  const urlSafe = cores.filter((core) => core.length >= MIN_BASE64_CHARS);
  return urlSafe.flatMap((core) => [core, core.replaceAll("-", "+").replaceAll("_", "/")]);
}

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
