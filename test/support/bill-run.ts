// A workspace with a worked tariff, a term, and subscriptions as the scenarios tell of them.
import { BillingError, type DataOf } from '../../sdk/client.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import { type TariffCase, tariffCases } from '../rating/tariff-cases.ts';
import type { TestClient } from './client.ts';
import { postNothing } from './post-nothing.ts';
import type { Scene } from './scene.ts';
import { saveTariffs } from './tariffs.ts';
import { insertScenario, insertTerm, type TermRow } from './term-rows.ts';

export type ShownBill = DataOf<'getBills'>['bills'][number];

/** A workspace in which terms are billed. */
export type Running = { scene: Scene; client: TestClient; tenantId: number };

export type BillRun = Running & { one: TariffCase };

export function tariffCase(id: string): TariffCase {
  const found = tariffCases.find((one) => one.id === id);
  if (!found) throw new Error(`there is no tariff ${id}`);
  return found;
}

let workspaces = 0;

/** A workspace with the context and plans of a case, and party and account 1. */
export async function openBillRun(
  scene: Scene,
  one: TariffCase,
  changed: Parameters<typeof saveTariffs>[2] = {},
): Promise<BillRun> {
  workspaces += 1;
  const workspace = `run-${one.id.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}-${workspaces}`;
  const client = await scene.workspace(workspace, { currency: one.service.currency ?? 'PKR' });
  await saveTariffs(client, one, changed);
  await client.makeUsers({ userType: 'customer', users: [{ name: 'A. Khan' }] });
  const user = { partyNumber: 100001, connectionGroups: [{ connectionGroupLabel: 'House 12-B' }] };
  await client.updateUser({ user });
  const { rows } = await scene.sql.query<{ id: string }>('select find_workspace($1) as id', [
    workspace,
  ]);
  return { scene, client, tenantId: Number(rows[0]?.id), one };
}

/** A term over the days of the case's scenarios. */
export async function addTerm(run: BillRun, changed: Partial<TermRow> = {}): Promise<number> {
  const term = run.one.scenarios[0]?.term;
  if (!term) throw new Error('a case has scenarios');
  return insertTerm(run.scene, run.tenantId, {
    serviceCode: run.one.service.code,
    label: term.label ?? '',
    startDate: term.startDate,
    endDate: term.endDate,
    dueDate: term.dueDate ?? term.endDate,
    ...changed,
  });
}

export function addSubscription(
  run: BillRun,
  termId: number,
  facts: FrozenInputs,
  options: Parameters<typeof insertScenario>[4] = {},
): Promise<number> {
  return insertScenario(run.scene, run.tenantId, termId, facts, options);
}

let meters = 900_000;

/** Copies of a scenario with numbers of their own and other readings. */
export function copyOf(facts: FrozenInputs, index: number, use?: number): FrozenInputs {
  const number = `${facts.connection?.connectionNumber}-${index}`;
  return {
    ...facts,
    connection: { ...facts.connection, connectionNumber: number },
    meters: (facts.meters ?? []).map((meter) => {
      meters += 1;
      const { current, previous } = meter;
      if (use === undefined || !current || !previous) return { ...meter, number: meters };
      const value = String(Number(previous.value) + use);
      return { ...meter, number: meters, current: { ...current, value } };
    }),
    manual: (facts.manual ?? []).map(([, component, value]) => [number, component, value] as const),
  };
}

const schedule = { operation: 'schedule' as const };

export function generate(run: Running, termId: number, billId: number | null = null) {
  return run.client.generateBills({ ...schedule, data: { termID: termId }, billId });
}

/**
 * A term of tests often bills one subscription alone. Where that is left out, or not to be billed,
 * the term is posted without a bill, which the operation itself refuses.
 */
export async function post(
  run: Running,
  termId: number,
  skipErrors = false,
): Promise<{ message: string }> {
  try {
    return await run.client.postBills({ ...schedule, data: { termID: termId, skipErrors } });
  } catch (error) {
    if (!(error instanceof BillingError) || error.code !== 'NOTHING_TO_POST') throw error;
    return postNothing(run, termId);
  }
}

export function unpost(run: Running, termId: number, reason = 'wrong prices') {
  return run.client.unpostBills({ ...schedule, data: { termID: termId, reason } });
}

export async function billsOf(run: Running, termId: number): Promise<ShownBill[]> {
  return (await run.client.getBills({ termID: termId })).data.bills;
}

export async function rowsOf<Row extends object>(
  run: Running,
  query: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { rows } = await run.scene.sql.query<Row>(query, [run.tenantId, ...values]);
  return rows;
}
