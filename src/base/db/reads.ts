// Reads share connections, and where they can, transactions. PostgreSQL takes all statements up to
// a Sync as one transaction, so a read needs no begin and no commit: its opening, its statements
// and a Sync. Reads that are ready in one turn of the event loop travel in one write on one
// connection. Reads of one workspace share one opening and one Sync; other workspaces have their
// own. Under load, PostgreSQL wakes up once for many calls instead of several times for each. If
// the server is idle, a read has a connection to itself.
import type pg from 'pg';
import type { FairTurns } from '../fair-turns.ts';
import { tracedStatement } from '../tracing.ts';
import type { BatchedClient, Statement, StatementResult, Waiting } from './batch.ts';
import { isUnavailable } from './faults.ts';
import { type Lookup, type Tx, txOn } from './tx.ts';
import { noteStatement } from './watch.ts';

/** Beyond this many they are spread over connections: PostgreSQL works on each with one core. */
const readsTogetherMax = 16;

/** What took longer has a connection to itself for a while: others would wait for it. */
const slowMs = 250;
const slowForMs = 10_000;

/** Reads share with those of their tenant. The kind is what tells slow ones from others. */
export type Company = { tenantId: number; kind: object };

/** Statements that are answered together. */
type Group = { read: Read; statements: Waiting[]; isClosed: boolean };

export class ReadQueue {
  readonly #pool: pg.Pool;
  readonly #batchedOf: (client: pg.PoolClient) => BatchedClient;
  readonly #shares: FairTurns | undefined;
  #ready: Group[] = [];
  /** The reads of this turn of the event loop that others may join, by tenant. */
  readonly #joinable = new Map<number, Read>();
  readonly #slowUntil = new WeakMap<object, number>();

  constructor(
    pool: pg.Pool,
    batchedOf: (client: pg.PoolClient) => BatchedClient,
    shares: FairTurns | undefined,
  ) {
    this.#pool = pool;
    this.#batchedOf = batchedOf;
    this.#shares = shares;
  }

  /** A read with a connection of its own, out of the tenant's share. */
  alone(openings: readonly Statement[], tenantId?: number): Read {
    return new Read(this, openings, undefined, tenantId);
  }

  /** The read of all that ask about the tenant in this turn, with the same openings. */
  shared({ tenantId, kind }: Company, openings: readonly Statement[]): Read {
    const slowUntil = this.#slowUntil.get(kind);
    if (slowUntil !== undefined && slowUntil > performance.now())
      return this.alone(openings, tenantId);
    const found = this.#joinable.get(tenantId);
    if (found?.kinds && found.members < readsTogetherMax) {
      found.members += 1;
      found.kinds.add(kind);
      return found;
    }
    const made = new Read(this, openings, new Set([kind]));
    this.#joinable.set(tenantId, made);
    return made;
  }

  /** The group is sent when the event loop turns, with what was added to it by then. */
  add(group: Group): void {
    this.#ready.push(group);
    if (this.#ready.length === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    this.#joinable.clear();
    const ready = this.#ready;
    this.#ready = [];
    let together: Group[] = [];
    let members = 0;
    for (const group of ready) {
      group.read.close();
      if (!group.read.kinds) {
        this.#sendAlone(group);
        continue;
      }
      if (members + group.read.members > readsTogetherMax && members > 0) {
        this.#sendTogether(together);
        together = [];
        members = 0;
      }
      together.push(group);
      members += group.read.members;
    }
    if (members > 0) this.#sendTogether(together);
  }

  #sendAlone(group: Group): void {
    const { tenantId } = group.read;
    const shares = tenantId === undefined ? undefined : this.#shares;
    const leave = () => tenantId !== undefined && shares?.leave(tenantId);
    const turn = tenantId === undefined ? undefined : shares?.enter(tenantId);
    const send = () => this.#sendTogether([group], leave);
    if (!turn) send();
    else {
      turn.then(send, (error) => {
        for (const one of group.statements) one.reject(error);
      });
    }
  }

  #sendTogether(groups: Group[], onEnd: () => unknown = ignore): void {
    this.#pool.connect((error, client) => {
      if (!client) {
        onEnd();
        for (const { statements } of groups) for (const one of statements) one.reject(error);
        return;
      }
      let ended = 0;
      let sinceMs = performance.now();
      const statements = groups.map((group) => group.statements);
      let lost: Error | undefined;
      this.#batchedOf(client).sendGroups(statements, ({ isFirst, error }) => {
        if (isLoss(error)) lost = error as Error;
        const nowMs = performance.now();
        if (nowMs - sinceMs > slowMs && !isFirst) this.#noteSlow(groups[ended]?.read.kinds, nowMs);
        sinceMs = nowMs;
        ended += 1;
        if (ended < groups.length) return;
        client.release(lost);
        onEnd();
      });
    });
  }

  #noteSlow(kinds: Iterable<object> = [], nowMs: number): void {
    for (const kind of kinds) this.#slowUntil.set(kind, nowMs + slowForMs);
  }
}

/** A connection on which this was heard is not to be used again; after a time limit it is good. */
function isLoss(error: unknown): boolean {
  return isUnavailable(error) && !timeLimits.has((error as { code?: string }).code ?? '');
}

const timeLimits = new Set(['57014', '55P03']);

type AnyLookup = Lookup<number, unknown>;

type Gathered = {
  tenantId: number;
  keys: Set<number>;
  found: PromiseWithResolvers<ReadonlyMap<number, unknown>>;
};

/**
 * A read, of one call or of several: the statements that are ready together run in one read-only
 * transaction, behind the openings; statements that come when those are gone run in another, behind
 * the same openings. That is no less consistent than one transaction for all, in which every
 * statement has a view of the data of its own too.
 */
export class Read {
  readonly tx: Tx;
  /** The row that the last of the openings answers. */
  readonly opened: Promise<Record<string, unknown> | undefined>;
  members = 1;
  /** What the callers that share the read look up; undefined if it is not shared. */
  readonly kinds: Set<object> | undefined;
  /** Whose share of the connections it needs; undefined where it is shared. */
  readonly tenantId: number | undefined;
  readonly #queue: ReadQueue;
  readonly #openings: readonly Statement[];
  #group: Group | undefined;
  /** What was asked for since the last group was sent. */
  #gathered: Map<AnyLookup, Gathered> | undefined;

  constructor(
    queue: ReadQueue,
    openings: readonly Statement[],
    kinds: Set<object> | undefined,
    tenantId?: number,
  ) {
    this.kinds = kinds;
    this.tenantId = tenantId;
    this.#queue = queue;
    this.#openings = openings;
    this.tx = txOn(this);
    this.opened = new Promise((resolve, reject) => {
      this.#newGroup(({ rows }) => resolve(rows[0]), reject);
    });
  }

  run(statement: Statement): Promise<StatementResult> {
    const answer = new Promise<StatementResult>((resolve, reject) =>
      this.#send(statement, resolve, reject),
    );
    return tracedStatement(statement.text, answer);
  }

  #send({ text, values }: Statement, resolve: Waiting['resolve'], reject: Waiting['reject']): void {
    noteStatement(text);
    this.#openGroup().statements.push({ text, values, resolve, reject });
  }

  /** Lookups of the same kind become one when the group is sent. */
  async lookUp<Key extends number, Found>(
    lookup: Lookup<Key, Found>,
    tenantId: number,
    key: Key,
  ): Promise<Found | undefined> {
    this.#openGroup();
    const any = lookup as unknown as AnyLookup;
    const gathered = this.#gathered?.get(any) ?? this.#gather(any, tenantId);
    if (gathered.tenantId !== tenantId) throw new Error('a read is about one tenant');
    gathered.keys.add(key);
    const found = await gathered.found.promise;
    return found.get(key) as Found | undefined;
  }

  #gather(lookup: AnyLookup, tenantId: number): Gathered {
    const gathered: Gathered = { tenantId, keys: new Set(), found: Promise.withResolvers() };
    this.#gathered ??= new Map();
    this.#gathered.set(lookup, gathered);
    return gathered;
  }

  /** What was gathered becomes statements; what comes later goes with another group. */
  close(): void {
    if (this.#gathered) {
      for (const [lookup, { tenantId, keys, found }] of this.#gathered) {
        lookup(this.tx, tenantId, padded(keys)).then(found.resolve, found.reject);
      }
      this.#gathered = undefined;
    }
    if (this.#group) this.#group.isClosed = true;
  }

  #openGroup(): Group {
    return this.#group && !this.#group.isClosed ? this.#group : this.#newGroup(ignore, ignore);
  }

  #newGroup(resolve: Waiting['resolve'], reject: Waiting['reject']): Group {
    const last = this.#openings.length - 1;
    const statements = this.#openings.map(({ text, values }, index) =>
      index === last
        ? { text, values, resolve, reject }
        : { text, values, resolve: ignore, reject: ignore },
    );
    this.#group = { read: this, statements, isClosed: false };
    this.#queue.add(this.#group);
    return this.#group;
  }
}

function ignore(): void {}

/** As many elements as PostgreSQL assumes of an array that it does not know. */
const assumedKeys = 10;

/**
 * A lookup should have the same plan for one key and for many. Otherwise PostgreSQL would estimate
 * a custom plan to be cheaper and plan the statement each time, which costs more than the lookup.
 * So a lookup never has fewer keys than PostgreSQL assumes: keys below zero match nothing.
 */
function padded(keys: ReadonlySet<number>): number[] {
  const all = [...keys];
  for (let none = -1; all.length < assumedKeys; none -= 1) all.push(none);
  return all;
}

const intoReadOnly = "select set_config('transaction_read_only', 'on', true), ";
const readOnlyTexts = new Map<string, string>();

/** The opening of a read, which also sees to it that the read changes nothing. */
export function readOnlyOpening(opening: Statement): Statement {
  let text = readOnlyTexts.get(opening.text);
  if (text === undefined) {
    if (!opening.text.startsWith('select ')) throw new Error('an opening is a select');
    text = opening.text.replace('select ', intoReadOnly);
    readOnlyTexts.set(opening.text, text);
  }
  return { text, values: opening.values };
}
