// The list of meters: every filter and order against a plain model, by pages and as a stream.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('lists');
const other = await scene.workspace('lists-elsewhere');
const tenantId = await scene.enter(admin);

type Request = NonNullable<Parameters<typeof admin.getMeters>[0]>;

const count = 2_500;
const brands = ['Itron', 'Landis+Gyr', 'Élster 100%', 'A_B'];
const pad = (value: number) => String(value).padStart(2, '0');

/** Numbers go down while ids go up, so that no order is another by chance. */
const sent = Array.from({ length: count }, (_, i) => ({
  number: 900_000 - i * 7,
  brand: brands[i % 4] ?? '',
  meterType: (i % 5) + 1,
  purchaseDate: `${pad((i % 28) + 1)}/${pad((i % 12) + 1)}/${2000 + (i % 20)}`,
  mf: (i % 3) * 10 + 1,
}));
for (let at = 0; at < count; at += 1_000) {
  await admin.makeMeters({ meters: sent.slice(at, at + 1_000) });
}
await other.makeMeters({ meters: sent.slice(0, 5) });
await scene.sql.query(
  `update meters set status = 'Active' where tenant_id = ${tenantId} and meter_id % 3 = 0`,
);
await scene.sql.query(`update meters set ts = ts + meter_id % 50 where tenant_id = ${tenantId}`);

async function idsOf(request: Request): Promise<number[]> {
  const { data } = await admin.getMeters(request);
  return data.meters.meters.map((row) => row.meterID ?? 0);
}

/** All pages, and one after the last. */
async function pagesOf(request: Request, size: number): Promise<number[]> {
  const ids: number[] = [];
  for (let pageNumber = 0; pageNumber * size <= ids.length + size; pageNumber += 1) {
    const page = { pageNumber, size };
    const answer = await admin.getMeters({ ...request, page });
    assert.deepEqual(answer.data.meters.page, page);
    ids.push(...answer.data.meters.meters.map((row) => row.meterID ?? 0));
  }
  return ids;
}

type Model = {
  meter_id: number;
  number: number;
  brand: string;
  status: string;
  mf: number;
  purchase_date: string;
  ts: number;
};

const { rows: model } = await scene.sql.query<Model>(
  `select meter_id::int, number::int, brand, status, mf, purchase_date::text, ts::float8
   from meters where tenant_id = ${tenantId}`,
);

const keys = { meterID: 'meter_id', number: 'number', mf: 'mf', ts: 'ts' } as const;

function expected(request: Request): number[] {
  const { sortBy = 'meterID', sortOrder, search, updatedSince } = request.metaData ?? {};
  const key = sortBy === 'purchaseDate' ? 'purchase_date' : keys[sortBy ?? 'meterID'];
  const compare = (a: Model, b: Model) =>
    a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : a.meter_id - b.meter_id;
  const words = search?.normalize('NFKC').toLowerCase();
  const found = model
    .filter((row) => request.number == null || row.number === request.number)
    .filter((row) => request.status == null || row.status === request.status)
    .filter((row) => request.mfNo == null || row.mf === request.mfNo)
    .filter((row) => updatedSince == null || row.ts >= updatedSince)
    .filter((row) => !words || `${row.number}\n${row.brand.toLowerCase()}`.includes(words))
    .sort(compare)
    .map((row) => row.meter_id);
  return sortOrder === 'desc' ? found.reverse() : found;
}

const oneOf = <T>(...values: T[]) => fc.constantFrom<(T | null)[]>(null, ...values);
const middleTs = model[0]?.ts ?? 0;

const requests = fc.record({
  number: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.constantFrom(900_000, 5)),
  status: oneOf('Active' as const, 'InActive' as const),
  mfNo: oneOf(1, 11, 21, 5),
  metaData: fc.record({
    sortBy: oneOf('meterID', 'number', 'purchaseDate', 'mf', 'ts'),
    sortOrder: oneOf('asc', 'desc'),
    search: oneOf('itron', 'ITR', '89', '8991', '00%', 'a_b', 'é', 'nothing such', '\\'),
    updatedSince: oneOf(middleTs + 20, middleTs + 1e9),
  }),
});

test('any filter in any order gives what a plain model gives, whole and by pages', async () => {
  await fc.assert(
    fc.asyncProperty(requests, fc.constantFrom(400, 999, 1_000), async (request, size) => {
      const wanted = expected(request as Request);
      const whole = await admin.getMeters({ ...(request as Request), page: null });
      const ids = whole.data.meters.meters.map((row) => row.meterID ?? 0);
      assert.deepEqual(ids, wanted);
      assert.equal(whole.data.meters.page, null);
      assert.equal(whole.headers.get('x-total-count'), String(wanted.length));
      assert.deepEqual(await pagesOf(request as Request, size), wanted);
    }),
    { numRuns: 60 },
  );
});

test('each filter alone, deep in the list, with its total', async () => {
  const alone: Request[] = [{}, { status: 'Active' }, { status: 'InActive' }, { mfNo: 11 }];
  for (const request of alone) {
    const wanted = expected(request);
    assert.ok(wanted.length > 800);
    for (const [pageNumber, size] of [
      [0, 1],
      [wanted.length - 1, 1],
      [79, 10],
      [1, 797],
    ] as const) {
      const answer = await admin.getMeters({ ...request, page: { pageNumber, size } });
      const ids = answer.data.meters.meters.map((row) => row.meterID);
      assert.deepEqual(ids, wanted.slice(pageNumber * size, (pageNumber + 1) * size));
      assert.equal(answer.headers.get('x-total-count'), String(wanted.length));
    }
    const beyond = { pageNumber: 9_999, size: 1_000 };
    const past = await admin.getMeters({ ...request, page: beyond });
    assert.deepEqual(past.data.meters, { meters: [], page: beyond });
    assert.equal(past.headers.get('x-total-count'), String(wanted.length));
  }
});

test('numbers and factors that nothing has find nothing, however odd they are', async () => {
  for (const value of [0, -1, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER, -(2 ** 52)]) {
    assert.deepEqual(await idsOf({ number: value }), []);
    assert.deepEqual(await idsOf({ mfNo: value }), []);
  }
});

test('invalid filters and pages are refused', async () => {
  const get = (request: object) => admin.getMeters(request as Request);
  for (const status of ['active', 'Retired', '']) {
    const expectedField = { field: 'status', statusCode: 400 };
    await refuses(get({ status }), 'INVALID_FILTER_VALUE', expectedField);
  }
  await refuses(get({ status: 1 }), 'INVALID_FILTER_VALUE');
  await refuses(get({ metaData: { sortBy: 'brand' } }), 'INVALID_FILTER_VALUE');
  await refuses(get({ metaData: { sortOrder: 'up' } }), 'INVALID_FILTER_VALUE');
  await refuses(get({ number: '900000' }), 'INVALID_FILTER_VALUE', { field: 'number' });
  for (const page of [
    { pageNumber: -1, size: 1 },
    { pageNumber: 0, size: 0 },
    { pageNumber: 0, size: 1_001 },
  ]) {
    await refuses(get({ page }), 'INVALID_PAGE');
  }
});

test('brand is shown where it is asked for, and nowhere else', async () => {
  const page = { pageNumber: 0, size: 1 };
  const plain = await admin.getMeters({ page });
  assert.ok(!('brand' in (plain.data.meters.meters[0] ?? {})));
  const asked = await admin.getMeters({ page, metaData: { fields: ['number', 'brand'] } });
  assert.deepEqual(asked.data.meters.meters, [{ number: 900_000, brand: 'Itron' }]);
});

test('a meter reader and an auditor see meters; a cashier and a customer do not', async () => {
  for (const role of ['Meter Reader', 'Auditor']) {
    const login = await scene.loginAs(admin, [role]);
    assert.equal((await login.getMeters({ number: 900_000 })).data.meters.meters.length, 1);
    await login.getMeterMetaData();
    await refuses(login.makeMeters({ meters: sent.slice(0, 1) }), 'PERMISSION_DENIED');
    await refuses(login.updateMeter({ data: { number: 900_000 } }), 'PERMISSION_DENIED');
  }
  const cashier = await scene.loginAs(admin, ['Cashier']);
  await refuses(cashier.getMeters(), 'PERMISSION_DENIED', { statusCode: 403 });
});

test('the counts of rows follow every change of status', async () => {
  await scene.sql.query(
    `update meters set status = 'Active' where tenant_id = ${tenantId} and number < 890000`,
  );
  await scene.sql.query(`update meters set mf = mf where tenant_id = ${tenantId}`);
  await scene.sql.query(
    `update meters set status = 'InActive' where tenant_id = ${tenantId} and mf = 1`,
  );
  const { rows } = await scene.sql.query(`
    with counted as (
      select tenant_id, meter_id / 1000 as block,
        count(*) filter (where status = 'Active')::int as live_rows, count(*)::int as all_rows
      from meters group by 1, 2
    )
    select * from counted c
    full join (select * from row_blocks where kind = 'meter') b using (tenant_id, block)
    where c.live_rows is distinct from b.live_rows or c.all_rows is distinct from b.all_rows`);
  assert.deepEqual(rows, []);
  const page = { pageNumber: 0, size: 1 };
  const active = await admin.getMeters({ status: 'Active', page });
  const inactive = await admin.getMeters({ status: 'InActive', page });
  const totals = [active, inactive].map((one) => Number(one.headers.get('x-total-count')));
  assert.equal((totals[0] ?? 0) + (totals[1] ?? 0), count);
  assert.equal((await idsOf({ status: 'Active' })).length, totals[0]);
});
