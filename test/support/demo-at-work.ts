// The demo in the middle of a month: a term is open, most meters are read, some bills are in error,
// and a customer may log in.
import type { Client } from '../../sdk/client.ts';
import { formatDate } from '../../src/base/calendar.ts';

export const demoCustomer = {
  username: 'customer@demo.example',
  password: 'lanterns over the river',
} as const;

const run = { serviceCode: 'ELEC', batchCode: 'B01' } as const;
const first = (size: number) => ({ pageNumber: 0, size });
/** One meter in so many is not read, and one in so many shows far too much. */
const unread = 20;
const high = 17;

export async function putToWork(billing: Client): Promise<void> {
  await admitCustomer(billing);
  await keepWebhook(billing);
  await keepGroup(billing);
  const { terms } = (await billing.getTerms({ page: first(50) })).data;
  if (terms.some(({ status }) => status === 'Open')) return;
  const { settings } = (await billing.getSettings()).data;
  const today = Temporal.PlainDate.from(settings.now.slice(0, 10));
  const start = today.with({ day: 1 }).subtract({ months: 1 });
  const end = start.add({ months: 1 }).subtract({ days: 1 });
  const days = { startDate: formatDate(start), endDate: formatDate(end) };
  const label = start.toLocaleString('en', { month: 'short', year: 'numeric' });
  const made = await billing.makeTerm({ operation: 'schedule', data: { ...run, label, ...days } });
  const termID = Number(made.headers.get('x-term-id'));
  const sheet = { ...run, sinceDate: days.startDate, readingDate: days.endDate };
  const readings = readingsOf((await billing.getRouteSheet(sheet)).data.lines, days.endDate);
  await billing.uploadMeterReadings({
    operation: 'schedule',
    data: { data: JSON.stringify({ termID, readings }) },
  });
  await billing.postMeterReadings({ operation: 'schedule', data: { termID, reading: 'current' } });
  await billing.generateBills({ operation: 'schedule', data: { termID } });
}

/** Rows of readings from the lines of the route sheet, whose cells have no commas in them. */
function readingsOf([head = '', ...lines]: readonly string[], day: string): string[][] {
  const names = head.split(',');
  return lines
    .map((line) => line.split(','))
    .filter((_, index) => index % unread !== 0)
    .map((cells, index) => {
      const cell = (name: string) => cells[names.indexOf(name)] ?? '';
      const [low, top] = [Number(cell('expectedLow')), Number(cell('expectedHigh'))];
      const value = index % high === 0 ? top * 2 : Math.floor(low + (top - low) / 4);
      return [
        ...[cell('connectionNumber'), cell('number'), String(value), day],
        ...['Actual', '', cell('register')],
      ];
    });
}

/** Paused before anything happens that it would send. */
async function keepWebhook(billing: Client): Promise<void> {
  if ((await billing.getWebhooks({ page: first(1) })).data.webhooks.length > 0) return;
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const url = 'https://erp.example.com/billing-events';
  const { headers } = await billing.makeWebhooks({
    webhooks: [{ url, secret, types: ['term.cancelled'] }],
  });
  const webhookID = Number(headers.get('x-resource-id'));
  await billing.updateWebhook({ data: { webhookID, status: 'Paused' } });
}

/** The accounts of the newest bill's customer, billed by their plans as before. */
async function keepGroup(billing: Client): Promise<void> {
  if ((await billing.listBillingGroups()).data.length > 0) return;
  const { headers } = await billing.addBillingGroup({ name: 'Block A' });
  const [bill] = (await billing.getBills({ page: first(1) })).data.bills;
  const { user } = (await billing.getUsers({ partyNumber: bill?.partyNumber ?? 0 })).data;
  const connectionGroupIDs = user.subscriptionGroups.map((one) => one.connectionGroupID);
  const billingGroupID = Number(headers.get('x-resource-id'));
  await billing.assignBillingAccounts({ data: { billingGroupID, connectionGroupIDs } });
}

/** The customer who pays in time, with a year of bills and payments. */
async function admitCustomer(billing: Client): Promise<void> {
  const { logins } = (await billing.getLogins({})).data;
  if (logins.some(({ username }) => username === demoCustomer.username)) return;
  const [bill] = (await billing.getBills({ page: first(1) })).data.bills;
  if (!bill) throw new Error('the demo has no bill yet: its year is still being made');
  const { partyNumber, partyName } = bill;
  const login = { ...demoCustomer, name: partyName, partyNumber, roles: ['Customer' as const] };
  await billing.makeLogins({ logins: [login] });
}
