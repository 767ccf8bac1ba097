const PARAMETER = /;\s*([^\s=;,"]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s;,]*))?/g;

/** Whether a `Link` header names a next page: `<…>; rel="next"`, among others, quoted or not, in any case. */
export function namesNextPage(link: string): boolean {
  if (link === "") return false;
  const parameters = link.replace(/<[^>]*>/g, "<>");
  for (const [, name = "", value = ""] of parameters.matchAll(PARAMETER)) {
    if (name.toLowerCase() !== "rel") continue;
    const relations = value.replace(/["']/g, "").toLowerCase().split(/\s+/);
    if (relations.includes("next")) return true;
  }
  return false;
}
