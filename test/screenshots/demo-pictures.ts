// The pictures of the demo workspace.
import type { Client } from '../../sdk/client.ts';
import { demoLogin } from '../../src/domain/access/demo-login.ts';
import { type Camera, phone, store, type Visitor } from './camera.ts';
import type { DemoMonths } from './demo-months.ts';
import { drawBill, showPaper } from './paper.ts';

export async function shootDemo(camera: Camera, client: Client, terms: DemoMonths): Promise<void> {
  const visitor = await camera.enter(demoLogin.workspace, demoLogin);
  await shootMonth(visitor, terms);
  await shootBill(visitor, client, terms);
  await shootMoney(visitor);
  await visitor.leave();
  await shootPortal(camera, client, terms);
}

const customer = { username: 'customer@demo.example', password: 'a long pass phrase' };

/** The pages of a customer who has not paid in October, on a phone. */
async function shootPortal(camera: Camera, client: Client, terms: DemoMonths): Promise<void> {
  const { bills } = (await client.getBills({ termID: terms.billed, status: 'Published' })).data;
  const late = bills.find((bill) => bill.paymentStatus === 'Overdue');
  if (!late) throw new Error('no bill is overdue');
  const login = { ...customer, name: late.partyName, roles: ['Customer' as const] };
  await client.makeLogins({ logins: [{ ...login, partyNumber: late.partyNumber }] });
  const visitor = await camera.enter(demoLogin.workspace, customer, { size: phone });
  await visitor.shoot('portal');
  await visitor.leave();
}

async function shootMonth({ open, shoot }: Visitor, terms: DemoMonths): Promise<void> {
  await open('/');
  await shoot('console');
  await open(`/terms/${terms.reviewed}`);
  await shoot('term');
  await open(`/terms/${terms.reviewed}/register`);
  await shoot('register');
  await open(`/terms/${terms.read}/entry`);
  await shoot('entry');
  await open(`/terms/${terms.read}/review`);
  await shoot('review');
}

async function shootBill({ page, open, shoot }: Visitor, client: Client, terms: DemoMonths) {
  const { data } = await client.getBills({ termID: terms.billed, status: 'Published' });
  const bill = data.bills.find((one) => one.paymentStatus === 'Paid');
  if (!bill) throw new Error('no bill is paid');
  const paper = await drawBill(client, bill.billID);
  store('bill', paper);
  await open(`/bills/${bill.billID}`);
  await showPaper(page, paper);
  await shoot('bill-screen');
  await page.getByRole('button', { name: /^Why / }).first().click();
  await shoot('why');
}

async function shootMoney({ page, open, shoot }: Visitor): Promise<void> {
  await open('/cash-desk');
  await page.getByLabel('Name, number, phone, meter or bill').fill('Kamran');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByText('Kamran Gill').first().click();
  await shoot('cash-desk');
  await open('/reports');
  await shoot('reports');
  await open('/ledger');
  await shoot('ledger');
}
