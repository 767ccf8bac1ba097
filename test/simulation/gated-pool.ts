import type { Socket } from "node:net";
import pg from "pg";
import { connect } from "../../src/db/connect.ts";
import type { Control } from "./database.ts";
import type { Scheduler } from "./scheduler.ts";

/** A statement that a worker is about to send. */
export interface Statement {
  readonly worker: string;
  /** The first words of its text. */
  readonly text: string;
  readonly client: pg.Client;
  readonly inTransaction: boolean;
}

/** The interference with a statement, if any. */
export type Interference =
  | { readonly kind: "none" }
  /** The server ends the session before the statement arrives. */
  | { readonly kind: "terminate" }
  /** The statement is executed, and the connection breaks before its answer arrives. */
  | { readonly kind: "loseAnswer" }
  /** The server refuses it with this SQLSTATE. */
  | { readonly kind: "refuse"; readonly code: string }
  /** The worker dies before or after the statement is executed. */
  | { readonly kind: "die"; readonly when: "before" | "after" };

interface QueryWithCallback {
  readonly text: string;
  callback(error: unknown, result?: unknown): void;
}

/** The hooks that one run has on its statements. */
export interface Gate {
  readonly worker: string;
  /** Called for each statement when its turn has arrived. */
  readonly interfere: (statement: Statement) => Promise<Interference>;
  /** Called for each executed COMMIT, before the worker learns of it. */
  readonly onCommit: (hasWritten: boolean) => Promise<void>;
  /** Called when the worker is dead: none of its statements may be executed any more. */
  readonly onDeath: () => Promise<void>;
}

export type GatedPool = Awaited<ReturnType<typeof openGatedPool>>;

const never = new AbortController().signal;

/** The program's own pool, with every statement waiting for its turn. */
async function openGatedPool(url: string, scheduler: Scheduler, control: Control) {
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
    const sql = text.trim();
    return new Promise((resolve, reject) => {
      scheduler.hold({
        worker: gate.worker,
        label: `statement ${sql.slice(0, 60)}`,
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
      /** A query that streams its rows and reports its end by a callback. */
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
  // The client with which `connect` tested the database is not gated yet.
  (await pool.connect()).release(true);
  Object.assign(pool, { Client: GatedClient });
  return {
    pool,
    /** Assigns all further statements to this run. */
    lend(gate: Gate): void {
      holder = gate;
    },
    /** Its sessions that are within a transaction. */
    openTransactions: () => [...clients].filter((one) => one.inTransaction).map(sessionOf),
    isDead: () => dead,
    /** Resolves when no connection is in use: after a run ends, the last staging of a list that it gave up may still run. */
    async whenIdle(): Promise<void> {
      while (!dead && pool.idleCount < pool.totalCount) await new Promise((resolve) => setImmediate(resolve));
    },
    /** Breaks every connection, as the exit of a process does. */
    destroy(): void {
      dead = true;
      for (const client of clients) breakConnection(client);
      void pool.end().catch(() => {});
    },
  };
}

/** Pools that outlive a run, because opening sessions costs more than the run itself. */
export function openPools(url: string, scheduler: Scheduler, control: Control) {
  const free: GatedPool[] = [];
  return {
    take: async () => free.pop() ?? openGatedPool(url, scheduler, control),
    giveBack: (pool: GatedPool) => void free.push(pool),
    close(): void {
      for (const pool of free) pool.destroy();
    },
  };
}

export const sessionOf = (client: pg.Client): number => (client as unknown as { processID: number }).processID;

export const streamOf = (client: pg.Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/** Breaks the connection like a lost route: the driver detects it by itself. */
export const breakConnection = (client: pg.Client) => streamOf(client).destroy();

/** Waits for the statement's end; returns whether it was a COMMIT that the server answered as one. */
async function isCommitted(text: string, answer: Promise<unknown>): Promise<boolean> {
  await settled(answer);
  if (!/^COMMIT/.test(text)) return false;
  return answer.then(
    (result) => (result as { command?: string }).command === "COMMIT",
    () => false,
  );
}

/** Waits until it is settled, successfully or not. */
export const settled = (work: Promise<unknown>) => Promise.allSettled([work]);
