// Registering, changing and describing meters.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();
const admin = await scene.workspace('meters');
const second = (await scene.anotherServer()).visitor('meters');
second.useToken(admin.token);
await scene.enter(admin);

let lastNumber = 1_000;

type Meter = Parameters<typeof admin.makeMeters>[0]['meters'][number];

function meter(facts: Partial<Meter> = {}): Meter {
  lastNumber += 1;
  const plain = { brand: 'Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 1 };
  return { number: lastNumber, ...plain, ...facts };
}

async function show(number: number) {
  const { data } = await admin.getMeters({ number });
  assert.equal(data.meters.meters.length, 1);
  return data.meters.meters[0];
}

/** Nothing is stored of a call that is refused: not a row, not a number of a series. */
async function storesNothing(work: () => Promise<void>): Promise<void> {
  const before = await hashRows(scene.sql);
  await work();
  assert.deepEqual(await hashRows(scene.sql), before);
}

/** As if the meter were installed. */
async function hang(number: number): Promise<void> {
  await scene.sql.query("update meters set status = 'Active' where number = $1", [number]);
}

test('make-meters registers meters that get-meters shows, InActive and ok', async () => {
  const one = meter({ brand: ' Landis+Gyr ', meterType: 2, purchaseDate: '29/02/2024', mf: 40 });
  const made = await admin.makeMeters({ meters: [one, meter()] });
  assert.deepEqual(made.data, {});
  assert.equal(made.message, '2 meters registered');
  assert.equal(made.headers.get('x-resource-count'), '2');
  const [meterID] = made.headers.get('x-resource-id')?.split(',').map(Number) ?? [];
  const shown = await show(one.number);
  const { createdAt, modifiedAt, ts, ...facts } = shown ?? {};
  assert.deepEqual(facts, {
    meterID,
    number: one.number,
    meterType: 'Electric three phase TOU',
    purchaseDate: 20240229,
    mf: 40,
    status: 'InActive',
    meterHealth: 'ok',
    createdBy: 'admin@meters.example',
    modifiedBy: 'admin@meters.example',
  });
  assert.match(createdAt ?? '', /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);
  assert.equal(modifiedAt, createdAt);
  assert.ok(ts);
});

test('make-meters keeps a number of fifteen digits and the largest factor exactly', async () => {
  await admin.makeMeters({ meters: [meter({ number: 999_999_999_999_999, mf: 1_000_000 })] });
  assert.equal((await show(999_999_999_999_999))?.mf, 1_000_000);
});

test('make-meters refuses numbers, factors, dates and texts out of range, and stores nothing', async () => {
  const wrong: [Partial<Record<keyof Meter, unknown>>, string, string][] = [
    [{ number: 0 }, 'INVALID_NUMBER', 'number'],
    [{ number: 1_000_000_000_000_000 }, 'INVALID_NUMBER', 'number'],
    [{ number: -5 }, 'INVALID_NUMBER', 'number'],
    [{ number: 1.5 }, 'INVALID_TYPE', 'number'],
    [{ number: '12' }, 'INVALID_TYPE', 'number'],
    [{ number: null }, 'REQUIRED_FIELD', 'number'],
    [{ number: undefined }, 'REQUIRED_FIELD', 'number'],
    [{ mf: 0 }, 'INVALID_NUMBER', 'mf'],
    [{ mf: 1_000_001 }, 'INVALID_NUMBER', 'mf'],
    [{ mf: undefined }, 'REQUIRED_FIELD', 'mf'],
    [{ purchaseDate: '31/02/2024' }, 'INVALID_DATE', 'purchaseDate'],
    [{ purchaseDate: '2024-02-01' }, 'INVALID_DATE', 'purchaseDate'],
    [{ brand: '  ' }, 'REQUIRED_FIELD', 'brand'],
    [{ brand: 'x'.repeat(121) }, 'FIELD_TOO_LONG', 'brand'],
    [{ meterType: 0 }, 'INVALID_NUMBER', 'meterType'],
  ];
  await storesNothing(async () => {
    for (const [facts, code, field] of wrong) {
      const meters = [meter(), meter(facts as Partial<Meter>)];
      const expected = { field: `meters[1].${field}`, statusCode: 400 };
      await refuses(admin.makeMeters({ meters }), code as 'INVALID_NUMBER', expected);
    }
    await refuses(admin.makeMeters({ meters: [] }), 'REQUIRED_FIELD', { field: 'meters' });
    const tooMany = Array.from({ length: 1_001 }, () => meter());
    await refuses(admin.makeMeters({ meters: tooMany }), 'TOO_MANY_ITEMS', { field: 'meters' });
  });
});

test('make-meters names every number that is taken or appears twice, and stores nothing', async () => {
  const taken = meter();
  await admin.makeMeters({ meters: [taken] });
  const twice = meter();
  const meters = [meter(), { ...taken }, twice, meter(), { ...twice }, { ...twice }];
  await storesNothing(async () => {
    const refusal = await refuses(admin.makeMeters({ meters }), 'DUPLICATE', {
      field: 'meters[1].number',
      statusCode: 409,
    });
    assert.deepEqual(
      refusal.error.details.map((detail) => [detail.field, detail.code, detail.rejectedValue]),
      [
        ['meters[1].number', 'DUPLICATE', taken.number],
        ['meters[4].number', 'DUPLICATE', twice.number],
        ['meters[5].number', 'DUPLICATE', twice.number],
      ],
    );
  });
});

test('make-meters refuses an unknown type, and names all kinds of bad rows at once', async () => {
  const taken = meter();
  await admin.makeMeters({ meters: [taken] });
  await storesNothing(async () => {
    const unknown = [meter(), meter({ meterType: 4711 })];
    await refuses(admin.makeMeters({ meters: unknown }), 'METER_TYPE_NOT_FOUND', {
      field: 'meters[1].meterType',
      statusCode: 404,
    });
    const mixed = [
      meter({ meterType: 99 }),
      { ...taken, purchaseDate: '01/01/2199' },
      meter({ purchaseDate: '01/01/2199' }),
    ];
    const refusal = await refuses(admin.makeMeters({ meters: mixed }), 'ROWS_REJECTED', {
      statusCode: 422,
    });
    assert.deepEqual(
      refusal.error.details.map((detail) => [detail.field, detail.code]),
      [
        ['meters[0].meterType', 'METER_TYPE_NOT_FOUND'],
        ['meters[1].number', 'DUPLICATE'],
        ['meters[1].purchaseDate', 'DATE_IN_FUTURE'],
        ['meters[2].purchaseDate', 'DATE_IN_FUTURE'],
      ],
    );
  });
});

test('make-meters names the first five hundred of a thousand bad rows', async () => {
  const meters = Array.from({ length: 1_000 }, () => meter({ meterType: 99 }));
  const refusal = await refuses(admin.makeMeters({ meters }), 'METER_TYPE_NOT_FOUND');
  assert.equal(refusal.error.details.length, 500);
});

test("a purchase date may be today by the workspace's date, and not tomorrow", async () => {
  const east = await scene.workspace('kiritimati', { timezone: 'Pacific/Kiritimati' });
  const west = await scene.workspace('pago-pago', { timezone: 'Pacific/Pago_Pago' });
  const text = (zone: string, days = 0) => {
    const day = scene.clock.now().toZonedDateTimeISO(zone).toPlainDate().add({ days });
    const pad = (value: number) => String(value).padStart(2, '0');
    return `${pad(day.day)}/${pad(day.month)}/${day.year}`;
  };
  const todayEast = text('Pacific/Kiritimati');
  await east.makeMeters({ meters: [meter({ purchaseDate: todayEast })] });
  await west.makeMeters({ meters: [meter({ purchaseDate: text('Pacific/Pago_Pago') })] });
  // 25 hours lie between the two zones: it is always a later day in the east.
  for (const purchaseDate of [todayEast, text('Pacific/Pago_Pago', 1)]) {
    await refuses(west.makeMeters({ meters: [meter({ purchaseDate })] }), 'DATE_IN_FUTURE', {
      field: 'meters[0].purchaseDate',
      statusCode: 422,
    });
  }
});

test('make-meters takes a thousand meters in one call', async () => {
  const meters = Array.from({ length: 1_000 }, () => meter({ meterType: 3 }));
  const made = await admin.makeMeters({ meters });
  assert.equal(made.headers.get('x-resource-count'), '1000');
  assert.equal((await show(meters.at(-1)?.number ?? 0))?.meterType, 'Water');
  const { rows } = await scene.sql.query(
    `select count(*)::int as entries from audit_entries
     where request_id = $1 and subject = 'meter'`,
    [made.headers.get('x-request-id')],
  );
  assert.equal(rows[0].entries, 1_000);
});

test('twenty clients that register the same number at once: one wins, the others name the row', async () => {
  const wanted = meter();
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => {
      const own = Array.from({ length: i % 3 }, () => meter());
      return (i % 2 ? admin : second).makeMeters({ meters: [...own, { ...wanted, mf: i + 1 }] });
    }),
  );
  const winners = results.flatMap((one, i) => (one.status === 'fulfilled' ? [i] : []));
  assert.equal(winners.length, 1);
  assert.equal((await show(wanted.number))?.mf, (winners[0] ?? 0) + 1);
  results.forEach((result, i) => {
    if (result.status === 'fulfilled') return;
    assert.equal(result.reason.code, 'DUPLICATE');
    assert.equal(result.reason.statusCode, 409);
    assert.equal(result.reason.error.field, `meters[${i % 3}].number`);
  });
});

test('numbers that overlap in calls at once: no number twice, nothing of a refused call', async () => {
  const numbers = Array.from({ length: 40 }, () => meter().number);
  const calls = Array.from({ length: 20 }, (_, i) => {
    const own = numbers.slice(i, i + 20);
    if (i % 2) own.reverse();
    const meters = own.map((number) => meter({ number, brand: `Call ${i}` }));
    return (i % 2 ? admin : second).makeMeters({ meters });
  });
  const results = await Promise.allSettled(calls);
  const won = results.filter((result) => result.status === 'fulfilled').length;
  assert.ok(won >= 1);
  for (const result of results) {
    if (result.status === 'rejected') assert.equal(result.reason.code, 'DUPLICATE');
  }
  const { rows } = await scene.sql.query(
    'select brand, count(*)::int as meters from meters where number = any($1) group by brand',
    [numbers],
  );
  assert.equal(rows.length, won);
  for (const row of rows) assert.equal(row.meters, 20, 'all of a call or nothing of it');
});

test('the same number in two workspaces is two meters', async () => {
  const other = await scene.workspace('other-meters');
  const one = meter();
  await admin.makeMeters({ meters: [one] });
  await other.makeMeters({ meters: [{ ...one, mf: 7 }] });
  assert.equal((await show(one.number))?.mf, 1);
  const { data } = await other.getMeters();
  assert.deepEqual(
    data.meters.meters.map((row) => row.mf),
    [7],
  );
});

test('update-meter changes brand, health and factor, and leaves what is not sent', async () => {
  const one = meter();
  await admin.makeMeters({ meters: [one] });
  const before = await show(one.number);
  const done = await admin.updateMeter({
    data: { number: one.number, brand: ' Elster ', meterHealth: 'faulty', mf: 20 },
  });
  assert.deepEqual(done.data, {});
  assert.equal(done.headers.get('x-resource-id'), String(before?.meterID));
  await admin.updateMeter({ data: { number: one.number, meterHealth: 'ok' } });
  const fields = ['brand', 'mf', 'meterHealth', 'ts'];
  const { data } = await admin.getMeters({ number: one.number, metaData: { fields } });
  const [after] = data.meters.meters;
  assert.deepEqual([after?.brand, after?.mf, after?.meterHealth], ['Elster', 20, 'ok']);
  assert.ok((after?.ts ?? 0) > (before?.ts ?? 0));
  const found = await admin.getMeters({ metaData: { search: 'elster' } });
  assert.equal(found.data.meters.meters[0]?.number, one.number, 'found by its new brand');
});

test('update-meter leaves an audit entry with both states', async () => {
  const one = meter();
  await admin.makeMeters({ meters: [one] });
  const meterID = (await show(one.number))?.meterID;
  await admin.updateMeter({ data: { number: one.number, brand: 'Sensus', mf: 5 } });
  const { data } = await admin.getAudit({ subject: 'meter', subjectID: String(meterID) });
  const [entry] = data.entries as { before?: object | null; after?: object | null }[];
  assert.deepEqual(
    [entry?.before, entry?.after].map((state) => {
      const { brand, mf } = state as { brand: string; mf: number };
      return [brand, mf];
    }),
    [
      ['Itron', 1],
      ['Sensus', 5],
    ],
  );
  assert.equal(data.entries.length, 2, 'made and changed');
});

test('update-meter: the factor and retirement need InActive, everything else does not', async () => {
  const one = meter({ mf: 3 });
  await admin.makeMeters({ meters: [one] });
  await hang(one.number);
  await storesNothing(async () => {
    for (const [change, field] of [
      [{ mf: 4 }, 'data.mf'],
      [{ meterHealth: 'retired' as const }, 'data.meterHealth'],
      [{ brand: 'X', mf: 4, meterHealth: 'ok' as const }, 'data.mf'],
    ] as const) {
      const call = admin.updateMeter({ data: { number: one.number, ...change } });
      const refusal = await refuses(call, 'INVALID_STATE', { field, statusCode: 409 });
      assert.equal(refusal.error.current, 'Active');
      assert.deepEqual(refusal.error.allowed, ['InActive']);
    }
  });
  await admin.updateMeter({ data: { number: one.number, mf: 3, meterHealth: 'tampered' } });
  assert.equal((await show(one.number))?.meterHealth, 'tampered');
  const retire = { number: one.number, meterHealth: 'retired' as const };
  await scene.sql.query("update meters set status = 'InActive' where number = $1", [one.number]);
  await admin.updateMeter({ data: retire });
  assert.equal((await show(one.number))?.meterHealth, 'retired');
  await assert.rejects(hang(one.number), { constraint: 'meters_retired_is_inactive' });
});

test('update-meter refuses unknown meters, wrong words, null and a ts that is old', async () => {
  const one = meter();
  await admin.makeMeters({ meters: [one] });
  const { number } = one;
  const ts = (await show(number))?.ts ?? 0;
  const send = (data: object) => admin.updateMeter({ data: data as { number: number } });
  await storesNothing(async () => {
    const unknown = { field: 'data.number', statusCode: 404 };
    await refuses(send({ number: 4_711_000 }), 'METER_NOT_FOUND', unknown);
    await refuses(send({ number: 0 }), 'INVALID_NUMBER', { field: 'data.number' });
    await refuses(send({}), 'REQUIRED_FIELD', { field: 'data.number' });
    await refuses(send({ number, meterHealth: 'broken' }), 'INVALID_ENUM');
    await refuses(send({ number, mf: 0 }), 'INVALID_NUMBER', { field: 'data.mf' });
    await refuses(send({ number, mf: 1_000_001 }), 'INVALID_NUMBER');
    for (const field of ['brand', 'meterHealth', 'mf']) {
      const cleared = send({ number, [field]: null });
      await refuses(cleared, 'FIELD_NOT_NULLABLE', { field: `data.${field}` });
    }
    const stale = await refuses(send({ number, mf: 2, ts: ts - 1 }), 'STALE_OBJECT', {
      field: 'data.ts',
      statusCode: 409,
    });
    assert.equal(stale.error.current, ts);
  });
  await send({ number, mf: 2, ts });
  await refuses(send({ number, mf: 3, ts }), 'STALE_OBJECT');
});

test('of twenty updates at once that saw the same ts one wins, the others are stale', async () => {
  const one = meter();
  await admin.makeMeters({ meters: [one] });
  const ts = (await show(one.number))?.ts ?? 0;
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) =>
      (i % 2 ? admin : second).updateMeter({ data: { number: one.number, mf: i + 2, ts } }),
    ),
  );
  const winners = results.flatMap((result, i) => (result.status === 'fulfilled' ? [i] : []));
  assert.equal(winners.length, 1);
  assert.equal((await show(one.number))?.mf, (winners[0] ?? 0) + 2);
  for (const result of results) {
    if (result.status === 'rejected') assert.equal(result.reason.code, 'STALE_OBJECT');
  }
});
