import type { ContentRead, LibraryKey, Listing, ScenarioSink } from "../model.ts";
import { atMostEvery } from "./at-most-every.ts";
import { endContent, endListing } from "./endings.ts";
import { FailedGet, get } from "./http/get.ts";
import type { Life } from "./http/life.ts";
import { openLives } from "./http/lives.ts";
import { openDesk } from "./http/open-desk.ts";
import { hideInReject, hideKey, makePrintable } from "./http/printable.ts";
import { TIMING } from "./http/timing.ts";
import type { Answer } from "./http/transport.ts";
import { readListingAnswer } from "./list-libraries.ts";
import { readLibraryContent } from "./read-content.ts";
import type { KeyState, Service, ServiceOptions } from "./service.ts";
import { basePath, contentPaths, listingPath } from "./urls.ts";

export type { ServiceEvent } from "./events.ts";
export type { Service, ServiceOptions } from "./service.ts";

export function openService(options: ServiceOptions): Service {
  const { baseUrl, apiKey, defaultOwner, maxRetryWaitMs, mask = (text: string) => text } = options;
  const withoutKey = hideKey(apiKey);
  const hide = (text: string) => mask(withoutKey(text));
  const printable = makePrintable(hide);
  const desk = openDesk(options, printable);
  const lives = openLives();
  const { confirmEveryMs } = { ...TIMING, ...options.timing };
  const base = basePath(baseUrl);
  const listing = listingPath(base);
  const about = (path: string) => ({
    path,
    base: baseUrl,
    printable,
    maxRetryWaitMs,
    patienceMs: desk.patienceMs,
    via: desk.transport.line.via(),
  });

  async function listLibraries(life: Life): Promise<Listing> {
    const read = (answer: Answer) => readListingAnswer(answer, defaultOwner);
    try {
      const answered = await get(
        desk,
        { operation: "listing", path: listing, resource: listing, patient: false, read },
        life,
      );
      const rejects = answered.rejects.map((reject) => hideInReject(reject, hide));
      return { ...answered, rejects };
    } catch (error) {
      throw error instanceof FailedGet ? endListing(error, about(listing)) : error;
    }
  }

  async function readContent(key: LibraryKey, sink: ScenarioSink, life: Life): Promise<ContentRead> {
    const request = { key, sink, paths: contentPaths(base, key), hide };
    try {
      return await readLibraryContent(request, desk, life);
    } catch (error) {
      throw error instanceof FailedGet ? endContent(error, about(error.path)) : error;
    }
  }

  async function askForKey(life: Life): Promise<KeyState> {
    const read = async () => "accepted" as const;
    try {
      const ask = { operation: "listing", path: listing, resource: listing, patient: false, read } as const;
      return await get(desk, ask, life);
    } catch (error) {
      if (!(error instanceof FailedGet)) throw error;
      const { status } = error.setback;
      return status === 401 || status === 403 ? "refused" : "unknown";
    }
  }
  const confirmKey = atMostEvery(confirmEveryMs, askForKey);

  return {
    listLibraries: (signal) => lives.during(signal, listLibraries),
    readContent: (key, sink, signal) => lives.during(signal, (life) => readContent(key, sink, life)),
    confirmKey: (signal) => lives.during(signal, confirmKey),
    counters: () => ({ ...desk.counters }),
    async close() {
      lives.endAll(new Error("the client of the service was closed"));
      desk.limiter.close();
      await desk.transport.line.dispatcher.destroy();
    },
  };
}
