// Makes e-invoices of every kind and language, and validates them: XML by the rules of EN 16931,
// PDF as PDF/A-3b. It needs Java 17 and Maven, which downloads the validators once.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fileInside } from '../../src/base/pdf/archive.ts';
import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { ciiXml } from '../../src/domain/documents/e-invoice/cii.ts';
import { invoiceOf } from '../../src/domain/documents/e-invoice/invoice.ts';
import { ublXml } from '../../src/domain/documents/e-invoice/ubl.ts';
import { renderBill } from '../../src/domain/documents/render-bill.ts';
import { eInvoiceSamples, seller } from './e-invoice-samples.ts';

const run = promisify(execFile);
const validators = fileURLToPath(new URL('validators', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'e-invoices-'));
const documents = join(folder, 'documents');
await mkdir(documents);
for (const [name, { input, setting = seller }] of Object.entries(eInvoiceSamples)) {
  const invoice = invoiceOf(input, setting, 'DE');
  const pdf = renderBill({ ...input, facturX: ciiXml(invoice) });
  await writeFile(join(documents, `${name}.ubl.xml`), ublXml(invoice));
  await writeFile(join(documents, `${name}.pdf`), pdf);
  // What a reader finds in the file.
  await writeFile(join(documents, `${name}.cii.xml`), fileInside(pdf) ?? '');
}

await makeBroken();

const missing = await missingPrograms();
if (missing.length > 0) {
  console.log(`${documents}: not validated, because ${missing.join(' and ')} cannot be started`);
  process.exitCode = 1;
} else {
  const paths = join(folder, 'class-path');
  const goal = ['dependency:build-classpath', `-Dmdep.outputFile=${paths}`];
  await run('mvn', ['-q', '-B', '-f', join(validators, 'pom.xml'), ...goal]);
  const classPath = await readFile(paths, 'utf8');
  await validate(['-cp', classPath.trim(), join(validators, 'Validate.java'), documents]);
}

/** If these passed, the validators would not look. */
async function makeBroken(): Promise<void> {
  const input = eInvoiceSamples['en-many-rates']?.input as BillDocumentInput;
  const invoice = invoiceOf(input, seller, 'DE');
  const wrong = { ...invoice, payable: invoice.payable + 1n };
  await writeFile(join(documents, 'broken-sum.ubl.xml'), ublXml(wrong));
  await writeFile(join(documents, 'broken-sum.cii.xml'), ciiXml(wrong));
  await writeFile(join(documents, 'broken-without-archive.pdf'), renderBill(input));
}

async function missingPrograms(): Promise<string[]> {
  const found = await Promise.all(
    ['java', 'mvn'].map((program) =>
      run(program, ['-version']).then(
        () => '',
        () => program,
      ),
    ),
  );
  return found.filter((program) => program !== '');
}

async function validate(options: readonly string[]): Promise<void> {
  const java = spawn('java', options, { stdio: 'inherit' });
  const [code] = await once(java, 'close');
  if (code !== 0) process.exitCode = 1;
  console.log(`The files are in ${documents}`);
}
