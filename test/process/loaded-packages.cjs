/** For `node --require`: tells at the end which packages were loaded, by their names, as a last line on stderr. */
process.on("exit", () => {
  const names = Object.keys(require.cache).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
  process._rawDebug(JSON.stringify([...new Set(names)].filter(Boolean).sort()));
});
