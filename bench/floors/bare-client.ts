import { Pool } from "undici";
import { inParallel } from "../tools/in-parallel.ts";
import { API_KEY } from "../tools/service-order.ts";

const headers = { "x-ss-api-key": API_KEY };

/** The floor of reading: undici's pool, the whole answer as text, and `JSON.parse`. Nothing is checked and nothing kept. */
export async function readBare(url: string, paths: readonly string[], concurrency: number): Promise<void> {
  const pool = new Pool(url, { connections: concurrency });
  await inParallel(paths, concurrency, async (path) => {
    const { body } = await pool.request({ method: "GET", path, headers });
    JSON.parse(await body.text());
  });
  await pool.close();
}

/** The usual program: sequential `fetch` calls. */
export async function fetchInTurn(url: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const answer = await fetch(url + path, { headers });
    await answer.json();
  }
}
