// The pictures of the demo workspace.
import { execFileSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import type { Client } from '../../sdk/client.ts';
import { demoLogin } from '../../src/domain/access/demo-login.ts';
import { type Camera, store, type Visitor } from './camera.ts';
import type { DemoMonths } from './demo-months.ts';

export async function shootDemo(camera: Camera, client: Client, terms: DemoMonths): Promise<void> {
  const visitor = await camera.enter(demoLogin.workspace, demoLogin);
  await shootMonth(visitor, terms);
  await shootBill(visitor, client, terms);
  await shootMoney(visitor);
  await visitor.leave();
}

async function shootMonth({ open, shoot }: Visitor, terms: DemoMonths): Promise<void> {
  await open('/');
  await shoot('console');
  await open(`/terms/${terms.reviewed}`);
  await shoot('term');
  await open(`/terms/${terms.reviewed}/exceptions`);
  await shoot('exceptions');
  await open(`/terms/${terms.reviewed}/register`);
  await shoot('register');
  await open(`/terms/${terms.read}/entry`);
  await shoot('entry');
  await open(`/terms/${terms.read}/review`);
  await shoot('review');
  await open(`/terms/${terms.published}/send`);
  await shoot('send');
}

async function shootBill({ page, open, shoot }: Visitor, client: Client, terms: DemoMonths) {
  const { data } = await client.getBills({ termID: terms.billed, status: 'Published' });
  const bill = data.bills.find((one) => one.paymentStatus === 'Paid');
  if (!bill) throw new Error('no bill is paid');
  const file = await client.getBillDocument({ billID: bill.billID, format: 'PDF' });
  const paper = drawPdf(Buffer.from(file.data.base64, 'base64'));
  store('bill', paper);
  await open(`/bills/${bill.billID}`);
  await showPaper(page, paper);
  await shoot('bill-screen');
  await page.getByRole('button', { name: /^Why / }).first().click();
  await shoot('why');
}

function drawPdf(pdf: Buffer): Buffer {
  const args = ['-png', '-r', '80', '-f', '1', '-l', '1', '-'];
  return execFileSync('pdftoppm', args, { input: pdf, maxBuffer: 20_000_000 });
}

/** A browser without a window has no viewer for PDF files: its frame gets the same page. */
async function showPaper(page: Page, paper: Buffer): Promise<void> {
  const source = `data:image/png;base64,${paper.toString('base64')}`;
  await page.evaluate(`{
    const paper = document.createElement('img');
    paper.src = ${JSON.stringify(source)};
    paper.style.width = '100%';
    document.querySelector('iframe').replaceWith(paper);
  }`);
}

async function shootMoney({ open, shoot }: Visitor): Promise<void> {
  await open('/customers/100006');
  await shoot('customer');
  await open('/cash-desk');
  await shoot('cash-desk');
  await open('/bank');
  await shoot('bank');
  await open('/collections');
  await shoot('collections');
  await open('/reports');
  await shoot('reports');
  await open('/ledger');
  await shoot('ledger');
  await open('/plans/2');
  await shoot('plan');
  await open('/files');
  await shoot('files');
}
