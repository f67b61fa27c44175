// Nothing that was answered is lost, nothing is there twice: the program and its PostgreSQL are
// killed in the middle of a stream of calls, and a client that kept a journal compares.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BillingError, type Client } from '../../sdk/client.ts';
import { demoClient, kill, openPlace, postmasterPid, query, until } from '../support/program.ts';

const place = await openPlace();
const connections = 6;

type Outcome = 'sent' | 'answered' | 'unavailable';

/** What a careful client writes down: the key before it sends, the answer when it comes. */
class Journal {
  readonly outcomes = new Map<string, Outcome>();
  readonly #name: string;
  #isOpen = true;

  constructor(name: string) {
    this.#name = name;
  }

  keysOf(outcome: Outcome): string[] {
    return [...this.outcomes].filter(([, one]) => one === outcome).map(([key]) => key);
  }

  async send(client: Client, key: string): Promise<void> {
    this.outcomes.set(key, 'sent');
    try {
      await client.makeUsers({ userType: 'customer', users: [{ name: key }] }, keyed(key));
      this.outcomes.set(key, 'answered');
    } catch (error) {
      // No answer at all, or a refusal in the envelope that says: try again.
      if (!(error instanceof BillingError)) return;
      assert.equal(error.code, 'UNAVAILABLE', error.message);
      assert.equal(error.statusCode, 503);
      assert.equal(error.error.retryable, true);
      this.outcomes.set(key, 'unavailable');
    }
  }

  /** Several connections, each sending its next party when the last is answered. */
  stream(t: TestContext, client: Client): { stop(): Promise<void> } {
    const one = async (connection: number) => {
      for (let i = 0; this.#isOpen; i += 1) {
        const key = `${this.#name} ${connection}-${i}`;
        await this.send(client, key);
        // A dead server refuses at once: no client would ask it ten thousand times a second.
        if (this.outcomes.get(key) !== 'answered') await new Promise((go) => setTimeout(go, 20));
      }
    };
    const all = Promise.all(Array.from({ length: connections }, (_, i) => one(i)));
    const stop = async () => {
      this.#isOpen = false;
      await all;
    };
    t.after(stop);
    return { stop };
  }
}

const keyed = (idempotencyKey: string) => ({ idempotencyKey });

/** How often each name is there, and whether everything that belongs to a party came with it. */
async function readParties(prefix: string): Promise<Map<string, number>> {
  const rows = await query(
    place.dataFolder,
    `select name, count(*)::integer as count,
       (select count(*)::integer from audit_entries a where a.after ->> 'name' = p.name) as audited,
       (select count(*)::integer from idempotency_keys k
         where k.idempotency_key = p.name) as stored
     from parties p where name like '${prefix} %' group by name`,
  );
  for (const { name, count, audited, stored } of rows) {
    assert.deepEqual({ count, audited, stored }, { count: 1, audited: 1, stored: 1 }, name);
  }
  const [whole] = await query(
    place.dataFolder,
    `select
       (select count(*)::integer from parties) as parties,
       (select sum(all_rows)::integer from row_blocks) as counted,
       (select count(*)::integer from idempotency_keys k
         where not exists (select from parties where name = k.idempotency_key)) as stray_answers,
       (select count(*)::integer from audit_entries a
         where subject = 'party'
           and not exists (select from parties where name = a.after ->> 'name')) as stray_entries`,
  );
  assert.equal(whole.counted, whole.parties);
  assert.deepEqual([whole.stray_answers, whole.stray_entries], [0, 0]);
  return new Map(rows.map((row) => [row.name, row.count]));
}

async function assertJournalHolds(journal: Journal, prefix: string, client: Client) {
  const found = await readParties(prefix);
  for (const key of journal.keysOf('answered')) assert.equal(found.get(key), 1, `${key} is lost`);
  for (const key of found.keys()) assert.ok(journal.outcomes.has(key), `${key} was never sent`);
  const open = [...journal.keysOf('sent'), ...journal.keysOf('unavailable')];
  for (const key of open) await journal.send(client, key);
  assert.equal(journal.keysOf('answered').length, journal.outcomes.size);
  const ended = await readParties(prefix);
  assert.equal(ended.size, journal.outcomes.size);
}

test('kill -9 of the program in a stream of party creations loses and doubles nothing', async (t) => {
  const first = place.run(['start']);
  const journal = new Journal('Killed');
  const stream = journal.stream(t, await demoClient(await first.ready()));
  await until(() => journal.keysOf('answered').length > 150, 'parties are being made');
  await first.end('SIGKILL');
  await stream.stop();
  assert.ok(journal.keysOf('sent').length > 0, 'some calls are without an answer');
  const second = place.run(['start']);
  const client = await demoClient(await second.ready());
  await assertJournalHolds(journal, 'Killed', client);
  await second.end('SIGTERM');
});

test('kill -9 of PostgreSQL in the stream: the program starts it again and loses nothing', async (t) => {
  const program = place.run(['start']);
  const base = await program.ready();
  const client = await demoClient(base);
  const journal = new Journal('Crashed');
  const stream = journal.stream(t, client);
  const answered = () => journal.keysOf('answered').length;
  await until(() => answered() > 100, 'parties are being made');
  kill(postmasterPid(place.dataFolder));
  await until(() => journal.keysOf('unavailable').length > 0, 'a call is answered UNAVAILABLE');
  const before = answered();
  await until(() => answered() > before + 50, 'parties are being made again');
  await stream.stop();
  assert.deepEqual(journal.keysOf('sent'), [], 'every call was answered, if only with UNAVAILABLE');
  await assertJournalHolds(journal, 'Crashed', client);
  const exit = await program.end('SIGTERM');
  assert.deepEqual(exit, { code: 0, signal: null }, program.output().slice(-2000));
});
