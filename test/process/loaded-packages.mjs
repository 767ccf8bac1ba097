/**
 * For `node --import`: prints each file that is imported, and at the end each package that was loaded by `require`, as
 * lines on stderr that begin with `loaded: `.
 */
import { createRequire, register } from "node:module";
import { isMainThread } from "node:worker_threads";

const print = (path) => process._rawDebug(`loaded: ${path}`);

// Node runs the hooks in another thread, which imports this file too.
if (isMainThread) {
  register(import.meta.url);
  process.on("exit", () => {
    for (const path of Object.keys(createRequire(import.meta.url).cache)) print(path);
  });
}

export function load(url, context, next) {
  print(url);
  return next(url, context);
}
