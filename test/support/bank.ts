// Bank files in a workspace whose customers owe bills: sending them, and what becomes of the lines.
import { type Owing, openOwing } from './owing.ts';
import type { Service } from './pricing.ts';
import type { Scene } from './scene.ts';

/** Columns of the CSV files of tests. */
const heading = 'date,amount,reference,payer,account,text,id';

export type SampleRow = {
  date?: string;
  amount: number | string;
  reference?: string;
  payer?: string;
  account?: string;
  text?: string;
  id?: string;
};

export function csvOf(rows: readonly SampleRow[]): string {
  const lines = rows.map((row) =>
    [row.date ?? '17/08/2026', row.amount, row.reference, row.payer, row.account, row.text, row.id]
      .map((cell) => String(cell ?? ''))
      .join(','),
  );
  return `${[heading, ...lines].join('\n')}\n`;
}

export type Bank = Owing & {
  /** Returns the message and the id of the file. */
  send(
    rows: readonly SampleRow[] | string,
    more?: Record<string, unknown>,
  ): Promise<{ message: string; bankFileID: number }>;
  lines(filter?: Parameters<Owing['client']['getBankLines']>[0]): Promise<Line[]>;
  /** Balance of an account by its code: debit less credit. */
  balance(accountCode: string): Promise<number>;
};
export type Line = NonNullable<
  Awaited<ReturnType<Owing['client']['getBankLines']>>['data']['lines']
>[number];

export async function openBank(
  scene: Scene,
  workspace: string,
  service: Partial<Service> = {},
): Promise<Bank> {
  const bankAccounts = [
    { title: 'Collections', bankName: 'First Bank', accountNumber: 'XX11BANK01' },
  ];
  const place = await openOwing(scene, workspace, { bankAccounts, ...service } as Partial<Service>);
  const { client } = place;
  const columns = {
    ...{ date: 'date', amount: 'amount', reference: 'reference', payer: 'payer', text: 'text' },
    ...{ payerAccount: 'account', bankID: 'id', dateFormat: 'DD/MM/YYYY', decimal: '.' as const },
  };
  await client.makeMappings({ mappings: [{ name: 'usual', columns }] });
  return {
    ...place,
    async send(rows, more = {}) {
      const content = typeof rows === 'string' ? rows : csvOf(rows);
      const contentBase64 = Buffer.from(content).toString('base64');
      const file = {
        bankAccountID: 1,
        format: 'CSV',
        mappingName: 'usual',
        contentBase64,
      } as const;
      const { message, headers } = await client.importBankFile({ ...file, ...more });
      return { message, bankFileID: Number(headers.get('x-resource-id')) };
    },
    async lines(filter = {}) {
      return (await client.getBankLines(filter)).data.lines;
    },
    async balance(accountCode) {
      const { data } = await client.getTrialBalance({ accountCode });
      return data.accounts[0]?.balance ?? 0;
    },
  };
}
