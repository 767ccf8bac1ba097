import { Pool } from "undici";
import { inParallel } from "../tools/in-parallel.ts";
import { API_KEY } from "../tools/service-order.ts";

const headers = { "x-ss-api-key": API_KEY };

/** The floor for reading: undici's pool, each response as one text, and `JSON.parse`, without any check. */
export async function readBare(url: string, paths: readonly string[], concurrency: number): Promise<void> {
  const pool = new Pool(url, { connections: concurrency });
  await inParallel(paths, concurrency, async (path) => {
    const { body } = await pool.request({ method: "GET", path, headers });
    JSON.parse(await body.text());
  });
  await pool.close();
}

/** A simple program: one `fetch` call after the other. */
export async function fetchSequentially(url: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const response = await fetch(url + path, { headers });
    await response.json();
  }
}
