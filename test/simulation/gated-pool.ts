import pg from "pg";
import { connect, type Pool } from "../../src/db/connect.ts";
import type { Control } from "./database.ts";
import type { Scheduler } from "./scheduler.ts";

/** A statement that a worker is about to send. */
export interface Statement {
  readonly worker: string;
  /** Its first words. */
  readonly text: string;
  readonly client: pg.Client;
  readonly inTransaction: boolean;
}

/** What becomes of a statement besides its being carried out. */
export type Interference =
  | { readonly kind: "none" }
  /** The session is ended by the server before the statement arrives. */
  | { readonly kind: "terminate" }
  /** It is carried out, and the connection breaks before the answer comes. */
  | { readonly kind: "loseAnswer" }
  /** The server refuses it with this SQLSTATE. */
  | { readonly kind: "refuse"; readonly code: string }
  /** The worker dies: before, or after it was carried out. */
  | { readonly kind: "die"; readonly when: "before" | "after" };

interface QueryWithCallback {
  readonly text: string;
  callback(error: unknown, result?: unknown): void;
}

/** What one run has to do with its statements. */
interface Gate {
  readonly worker: string;
  /** Asked for each statement, when its turn has come. */
  readonly interfere: (statement: Statement) => Promise<Interference>;
  /** Told of each COMMIT that was carried out, before the worker learns of it. */
  readonly onCommit: (hasWritten: boolean) => Promise<void>;
  /** Told that the worker is dead: nothing of it may happen any more. */
  readonly onDeath: () => Promise<void>;
}

export interface GatedPool {
  readonly pool: Pool;
  /** Statements are those of this run from now on. */
  lend(gate: Gate): void;
  /** Sessions of its that are within a transaction. */
  openTransactions(): number[];
  isDead(): boolean;
  /** Resolves when nobody holds a connection: a run may end while the last staging of a list that it gave up goes on. */
  whenIdle(): Promise<void>;
  /** Breaks every connection, as the end of a process does. */
  destroy(): void;
}

const never = new AbortController().signal;

/** The program's own pool, every statement of which waits for its turn. */
export async function openGatedPool(url: string, scheduler: Scheduler, control: Control): Promise<GatedPool> {
  const clients = new Set<GatedClient>();
  let holder: Gate | null = null;
  let dead = false;

  async function carryOut(
    client: GatedClient,
    text: string,
    send: () => Promise<unknown>,
    { worker, interfere, onCommit, onDeath }: Gate,
  ): Promise<() => Promise<unknown>> {
    const statement = { worker, text, client, inTransaction: client.inTransaction };
    const what = await interfere(statement);
    if (dead) return () => new Promise(() => {});
    if (what.kind === "die") {
      const done = what.when === "after" && (await isCommitted(text, send()));
      dead = true;
      if (done) await onCommit(client.hasWritten);
      const sessions = [...clients].map(sessionOf).filter((session) => session > 0);
      await onDeath();
      await control.untilGone(sessions);
      return () => new Promise(() => {});
    }
    if (what.kind === "refuse") {
      const refused = client.plain(`DO $$ BEGIN RAISE EXCEPTION 'simulated' USING ERRCODE = '${what.code}'; END $$`);
      await settled(refused);
      return () => refused;
    }
    if (what.kind === "terminate") await control.terminate(client);
    if (what.kind === "loseAnswer") {
      const lost = control.loseAnswer(client, send);
      await settled(lost);
      if (/^COMMIT/.test(text)) await onCommit(client.hasWritten);
      return () => lost;
    }
    const answer = send();
    await control.answeredOrBlocked(client, answer);
    if (/^BEGIN/.test(text)) client.hasWritten = false;
    if (/\b(INSERT INTO|UPDATE|DELETE FROM)\b/i.test(text)) client.hasWritten = true;
    if (/^BEGIN/.test(text)) client.inTransaction = true;
    if (/^(COMMIT|ROLLBACK)/.test(text)) client.inTransaction = false;
    if (/^COMMIT/.test(text) && (await isCommitted(text, answer))) await onCommit(client.hasWritten);
    return () => answer;
  }

  function pass(client: GatedClient, text: string, send: () => Promise<unknown>): Promise<unknown> {
    const gate = holder;
    if (dead || gate === null) return new Promise(() => {});
    const label = text.trim().slice(0, 60);
    const sql = text.trim();
    return new Promise((resolve, reject) => {
      scheduler.hold({
        worker: gate.worker,
        label: `statement ${label}`,
        async happen() {
          const answer = await carryOut(client, sql, send, gate);
          await control.letGo();
          answer().then(resolve, reject);
        },
      });
    });
  }

  class GatedClient extends pg.Client {
    inTransaction = false;
    hasWritten = false;
    constructor(config?: pg.ClientConfig) {
      super(config);
      clients.add(this);
      this.once("end", () => clients.delete(this));
      const send = super.query.bind(this) as (...args: unknown[]) => Promise<unknown>;
      /** A query whose rows are taken as they come; it tells its end by a callback. */
      const gatedRows = (query: QueryWithCallback) => {
        const { callback, text } = query;
        const answer = pass(this, text, () => {
          return new Promise((resolve, reject) => {
            query.callback = (error, result) => (error ? reject(error) : resolve(result));
            void send(query);
          });
        });
        answer.then((result) => callback(null, result), callback);
        return query;
      };
      const gated = (...args: unknown[]) => {
        if (args[0] instanceof pg.Query) return gatedRows(args[0] as unknown as QueryWithCallback);
        const callback = typeof args.at(-1) === "function" ? (args.pop() as (e: unknown, r?: unknown) => void) : null;
        const [first] = args;
        const text = typeof first === "string" ? first : String((first as { text?: string }).text);
        const answer = pass(this, text, () => send(...args));
        if (callback === null) return answer;
        answer.then((result) => callback(null, result), callback);
        return undefined;
      };
      Object.assign(this, { query: gated, plain: (sql: string) => send(sql) });
      const dial = super.connect.bind(this) as (callback: (error: Error) => void) => void;
      Object.assign(this, {
        connect(callback: (error: Error) => void) {
          scheduler.begin();
          dial((error) => {
            scheduler.end();
            if (!dead) callback(error);
          });
        },
      });
    }
    declare plain: (sql: string) => Promise<unknown>;
  }

  const pool = await connect(url, {}, never);
  // The client that `connect` tried the database with is not gated yet.
  (await pool.connect()).release(true);
  Object.assign(pool, { Client: GatedClient });
  return {
    pool,
    lend(gate) {
      holder = gate;
    },
    openTransactions: () => [...clients].filter((one) => one.inTransaction).map(sessionOf),
    isDead: () => dead,
    async whenIdle() {
      while (!dead && pool.idleCount < pool.totalCount) await new Promise((resolve) => setImmediate(resolve));
    },
    destroy() {
      dead = true;
      for (const client of clients) breakConnection(client);
      void pool.end().catch(() => {});
    },
  };
}

export const sessionOf = (client: pg.Client): number => (client as unknown as { processID: number }).processID;

/** As a lost route does it: the driver learns of it by itself. */
export function breakConnection(client: pg.Client): void {
  (client as unknown as { connection: { stream: import("node:net").Socket } }).connection.stream.destroy();
}

/** Waits for the statement's end; whether it was a COMMIT that was answered as one. */
async function isCommitted(text: string, answer: Promise<unknown>): Promise<boolean> {
  await settled(answer);
  if (!/^COMMIT/.test(text)) return false;
  return answer.then(
    (result) => (result as { command?: string }).command === "COMMIT",
    () => false,
  );
}

/** Waits for the end of it, whatever it is. */
export async function settled(work: Promise<unknown>): Promise<void> {
  await work.then(
    () => {},
    () => {},
  );
}
