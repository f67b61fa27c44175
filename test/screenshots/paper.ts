// Bills as pictures. Needs pdftoppm.
import { execFileSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import type { Client } from '../../sdk/client.ts';

/** The first page of a bill's PDF. */
export async function drawBill(client: Client, billID: number): Promise<Buffer> {
  const { data } = await client.getBillDocument({ billID, format: 'PDF' });
  const args = ['-png', '-r', '80', '-f', '1', '-l', '1', '-'];
  const input = Buffer.from(data.base64, 'base64');
  return execFileSync('pdftoppm', args, { input, maxBuffer: 20_000_000 });
}

/** A browser without a window has no viewer for PDF files: its frame gets the same page. */
export async function showPaper(page: Page, paper: Buffer): Promise<void> {
  const source = `data:image/png;base64,${paper.toString('base64')}`;
  await page.evaluate(`{
    const paper = document.createElement('img');
    paper.src = ${JSON.stringify(source)};
    paper.style.width = '100%';
    document.querySelector('iframe').replaceWith(paper);
  }`);
}
