const MASK = "***";

/** A shorter secret may be an ordinary word, such as `dev`. It is masked only in the password of a URL. */
export const MIN_SECRET_CHARS = 8;

/** A shorter part of a Base64 text occurs by chance. */
const MIN_BASE64_CHARS = 8;

/**
 * Returns a function that replaces every secret by `***`, in each form in which it may occur (URL, JSON, Base64). Use it
 * only for messages: in JSON or metrics it could replace a key or a value that happens to equal a secret.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const [short, long] = [secrets.filter(isShort), secrets.filter((secret) => !isShort(secret))];
  const sources = [...longestFirst(long.flatMap(formsOf)).map(escapePattern), ...urlPatterns(short)];
  if (sources.length === 0) return (text) => text;
  const pattern = new RegExp(sources.join("|"), "g");
  return (text) => text.replace(pattern, MASK);
}

const isShort = (secret: string) => secret.length < MIN_SECRET_CHARS;

/** Longest first, so that a form that contains another one is replaced as a whole. */
const longestFirst = (forms: readonly string[]) => [...new Set(forms)].sort((a, b) => b.length - a.length);

/** Patterns of these passwords in a URL: before the `@` of its host, or in its query. */
function urlPatterns(passwords: readonly string[]): string[] {
  const forms = passwords.filter((password) => password !== "").flatMap(plainFormsOf);
  return longestFirst(forms)
    .map(escapePattern)
    .flatMap((form) => [`(?<=:)${form}(?=@)`, `(?<=password=)${form}(?=[&#\\s"'\\\\]|$)`]);
}

/** The passwords in a database URL, both as written and percent-decoded. */
export function databaseSecrets(url: string): string[] {
  const inAuthority = /^[a-z]+:\/\/[^:/?#]*:(.*)@/is.exec(url)?.[1];
  const inQuery = [...url.matchAll(/[?&](?:ssl)?password=([^&#]*)/gi)].map(([, password]) => password);
  const written = [inAuthority, parseDatabaseUrl(url)?.password, ...inQuery].filter(
    (secret) => secret !== undefined && secret !== "",
  );
  return [...new Set(written.flatMap((secret) => (secret === undefined ? [] : [secret, percentDecode(secret)])))];
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

/** The password in the URL of a proxy or a web hook, alone and as `user:password`, which a header contains in Base64. */
function passwordSecrets(url: string | null | undefined): string[] {
  if (!url) return [];
  const passwords = databaseSecrets(url);
  return passwords.length === 0 || !URL.canParse(url) ? passwords : [...passwords, credentialsOf(new URL(url))];
}

/** `user:password` as the header of Basic authorization has it, before Base64; `:` if the URL has neither. */
export const credentialsOf = ({ username, password }: URL): string =>
  `${percentDecode(username)}:${percentDecode(password)}`;

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

/** Unchanged and percent-encoded in the usual ways. */
function plainFormsOf(secret: string): string[] {
  const wellFormed = secret.toWellFormed();
  const encoded = encodeURIComponent(wellFormed);
  const lowerHex = encoded.replace(/%../g, (hex) => hex.toLowerCase());
  return [secret, encoded, lowerHex, encoded.replaceAll("%20", "+"), encodeURI(wellFormed)];
}

function formsOf(secret: string): string[] {
  const once = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(once).slice(1, -1);
  return [...plainFormsOf(secret), once, twice, once.replaceAll("/", "\\/"), ...base64FormsOf(secret)];
}

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
