// Statements that travel together: each gets its own answer, and none outlives its transaction.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { openDatabase, plainOpening, transact } from '../src/base/db/pool.ts';
import { sql } from '../src/base/db/sql.ts';
import { openScene } from './support/scene.ts';

const scene = await openScene({ ownDatabase: true });
const connection = { ...scene.cluster.owner, database: scene.databaseName };
await scene.sql.query('create table tried (n integer primary key)');

/** On one connection, so that what a transaction leaves behind meets the next one. */
async function onOne(work: (run: Run) => Promise<void>): Promise<void> {
  const database = openDatabase({ connection, name: 'test one', max: 1 });
  try {
    await work((inside, options = {}) =>
      transact(database, { opening: plainOpening, ...options }, inside),
    );
  } finally {
    await database.close();
  }
}
type Inside = Parameters<typeof transact>[2];
type Run = (
  inside: Inside,
  options?: Partial<Parameters<typeof transact>[1]>,
) => ReturnType<typeof transact>;

test('a statement returns how many rows it changed', async () => {
  await onOne(async (run) => {
    await run(async (tx) => {
      const made = await sql`insert into tried values (1), (2), (3)`.execute(tx);
      const changed = await sql`update tried set n = n + 10 where n > 1`.execute(tx);
      const gone = await sql`delete from tried`.execute(tx);
      const counts = [made, changed, gone].map((result) => result.count);
      assert.deepEqual(counts, [3, 2, 3]);
    });
  });
});

test('a value that cannot be read fails its own statement, not the process', async () => {
  await onOne(async (run) => {
    const large = run((tx) => sql`select 9223372036854775807::bigint as n`.execute(tx));
    await assert.rejects(large, /does not fit/);
    await run(async (tx) => {
      const [bad, good] = await Promise.allSettled([
        sql`select n::bigint as n from (values ('9223372036854775807'), ('1')) v (n)`.execute(tx),
        sql`select 2 as n`.execute(tx),
      ]);
      assert.equal(bad.status, 'rejected');
      assert.deepEqual(good.status === 'fulfilled' && good.value.rows, [{ n: 2 }]);
    });
  });
});

test('a time beyond the year 9999 comes back as it was stored', async () => {
  const at = Temporal.Instant.from('+010000-01-01T07:59:59Z');
  const day = Temporal.PlainDate.from('+010000-01-01');
  await onOne(async (run) => {
    await run(async (tx) => {
      const { rows } = await sql<{ at: Temporal.Instant; day: string }>`
        select ${at}::timestamptz as at, ${day}::date as day
      `.execute(tx);
      assert.ok(rows[0]?.at.equals(at));
      assert.ok(Temporal.PlainDate.from(rows[0]?.day ?? '').equals(day));
    });
  });
});

test('a failed statement fails its transaction and leaves the connection good', async () => {
  await onOne(async (run) => {
    for (let turn = 0; turn < 3; turn += 1) {
      const failing = run((tx) =>
        Promise.all([
          sql`insert into tried values (1)`.execute(tx),
          sql`select * from no_such_table`.execute(tx),
          sql`insert into tried values (2)`.execute(tx),
        ]),
      );
      await assert.rejects(failing, { code: '42P01' });
      const caught = run((tx) => sql`select 1 / 0`.execute(tx).catch(() => 'swallowed'));
      await assert.rejects(caught, /rolled back/, 'a swallowed error commits nothing');
      await run(async (tx) => {
        assert.deepEqual((await sql`select n from tried`.execute(tx)).rows, []);
      });
    }
  });
});

test('a statement that only the commit waits for is written with it, or fails it with its error', async () => {
  await onOne(async (run) => {
    await run((tx) => sql`insert into tried values (70)`.send(tx));
    const { rows } = await scene.sql.query('select n from tried where n = 70');
    assert.equal(rows.length, 1);
    const twice = (inside: Inside) =>
      assert.rejects(run(inside), (error: Error & { code?: string }) => error.code === '23505');
    await twice((tx) => sql`insert into tried values (70)`.send(tx));
    // What comes later fails by it, and the caller learns the cause.
    await twice(async (tx) => {
      await sql`insert into tried values (71)`.send(tx);
      await sql`insert into tried values (70)`.send(tx);
      await setImmediate();
      await sql`insert into tried values (72)`.execute(tx);
    });
    // A failure that is answered after the work has failed by itself is not that of the next one.
    await assert.rejects(
      run(async (tx) => {
        await sql`insert into tried values (70)`.send(tx);
        throw new Error('given up');
      }),
    );
    await run((tx) => sql`insert into tried values (73)`.send(tx));
    const left = await scene.sql.query('select n from tried where n >= 70 order by n');
    assert.deepEqual(left.rows, [{ n: 70 }, { n: 73 }]);
    await scene.sql.query('delete from tried');
  });
});

test('when the opening fails, nothing of the work that was sent with it happens', async () => {
  await onOne(async (run) => {
    const opening = { text: 'select 1 / $1::integer as n', values: [0] };
    const failing = run((tx) => sql`insert into tried values (7)`.execute(tx), { opening });
    await assert.rejects(failing, { code: '22012' });
    await run(async (tx) => {
      assert.deepEqual((await sql`select n from tried`.execute(tx)).rows, []);
    });
  });
});

test('a read-only transaction cannot write, and the next one can', async () => {
  await onOne(async (run) => {
    for (let turn = 0; turn < 3; turn += 1) {
      const writing = run((tx) => sql`insert into tried values (1)`.execute(tx), {
        readOnly: true,
      });
      await assert.rejects(writing, { code: '25006' });
      await run((tx) => sql`select n from tried`.execute(tx), { readOnly: true });
      await run((tx) => sql`insert into tried values (1)`.execute(tx));
      await run((tx) => sql`delete from tried`.execute(tx));
    }
  });
});

test('more texts than a connection keeps by name still run, and the same text twice at once', async () => {
  await onOne(async (run) => {
    for (let block = 0; block < 11; block += 1) {
      await run(async (tx) => {
        const texts = Array.from({ length: 100 }, (_, i) => `select ${block * 100 + i} as n`);
        const found = await Promise.all(
          [...texts, ...texts].map((text) => sql<{ n: number }>`${sql.raw(text)}`.execute(tx)),
        );
        const numbers = found.map(({ rows }) => rows[0]?.n);
        const wanted = texts.map((_, i) => block * 100 + i);
        assert.deepEqual(numbers, [...wanted, ...wanted]);
      });
    }
  });
});

test('a new text that is sent again before it is answered runs, whether the first of them works', async () => {
  await onOne(async (run) => {
    const inTurn = async (tx: Parameters<Inside>[0], divisor: number, ticks: number) => {
      for (let tick = 0; tick < ticks; tick += 1) await new Promise(process.nextTick);
      const { rows } = await sql<{ n: number }>`
        select 6 / ${divisor}::integer as n, ${divisor}::text as of
      `.execute(tx);
      return rows[0]?.n;
    };
    await run(async (tx) => {
      const found = await Promise.all([0, 2, 4, 6].map((ticks) => inTurn(tx, 2, ticks)));
      assert.deepEqual(found, [3, 3, 3, 3]);
      assert.equal(await inTurn(tx, 3, 0), 2);
    });
    const failing = async (tx: Parameters<Inside>[0], divisor: number, ticks: number) => {
      for (let tick = 0; tick < ticks; tick += 1) await new Promise(process.nextTick);
      return (await sql<{ n: number }>`select 8 / ${divisor}::integer as n`.execute(tx)).rows[0]?.n;
    };
    await assert.rejects(
      run((tx) => Promise.all([failing(tx, 0, 0), failing(tx, 2, 2)])),
      /zero/,
    );
    await run(async (tx) => assert.equal(await failing(tx, 2, 0), 4));
  });
});

test('a role that is taken on brings its limits, for the transaction alone', async () => {
  const limits = async (role?: string) => {
    const database = openDatabase({ connection, name: 'test role', max: 1, ...(role && { role }) });
    try {
      const found = [];
      for (const readOnly of [false, true]) {
        const { rows } = await transact(database, { opening: plainOpening, readOnly }, (tx) =>
          sql`
            select current_user as role, current_setting('statement_timeout') as statement,
              current_setting('lock_timeout') as lock,
              current_setting('idle_in_transaction_session_timeout') as idle
          `.execute(tx),
        );
        found.push(rows[0]);
      }
      assert.deepEqual(found[0], found[1]);
      return found[0];
    } finally {
      await database.close();
    }
  };
  const api = { role: 'billwright_api', statement: '30s', lock: '10s', idle: '1min' };
  const worker = { role: 'billwright_worker', statement: '10min', lock: '1min', idle: '10min' };
  assert.deepEqual(await limits('billwright_api'), api);
  assert.deepEqual(await limits('billwright_worker'), worker);
  assert.deepEqual(await limits(), { role: 'billwright', statement: '0', lock: '0', idle: '0' });
});

test('a COPY that is refused while most of it is still to be sent fails with the reason', async () => {
  const parts = Array.from({ length: 200 }, (_, part) => {
    const rows = Array.from({ length: 20_000 }, (_, row) => `${part === 0 ? 'x' : ''}${row}\n`);
    return Buffer.from(rows.join(''));
  });
  await onOne(async (run) => {
    const copied = run((tx) => tx.copyIn('copy tried from stdin', parts));
    await assert.rejects(copied, { code: '22P02' });
    await run(async (tx) => {
      assert.equal((await sql`select n from tried`.execute(tx)).rows.length, 0);
    });
  });
});
