// Bank files of our own making that follow the structure of the published formats.

export type SampleEntry = {
  amount: string;
  side?: 'CRDT' | 'DBIT';
  extra?: string;
  details?: string;
  status?: string;
};

export type SampleStatement = {
  id?: string;
  iban?: string;
  opening?: string;
  closing?: string;
  currency?: string;
  entries: SampleEntry[];
};

export type CamtVersion = '02' | '08' | '13';

/** Version 02 writes a status as text, later ones as a code. */
export function camt053(version: CamtVersion, statements: SampleStatement[]): string {
  const inside = statements.map((one, index) => statementOf(version, one, index + 1)).join('');
  return camtFile('053', version, `<BkToCstmrStmt>${header}${inside}</BkToCstmrStmt>`);
}

export function camt054(version: CamtVersion, entries: SampleEntry[]): string {
  const inside = entries.map((entry) => entryOf(version, entry, 'EUR')).join('');
  const notification = `<Ntfctn><Id>N1</Id>${accountOf('XX11BANK01', 'EUR')}${inside}</Ntfctn>`;
  const message = `<BkToCstmrDbtCdtNtfctn>${header}${notification}</BkToCstmrDbtCdtNtfctn>`;
  return camtFile('054', version, message);
}

const header = '<GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-08-18T06:00:00</CreDtTm></GrpHdr>';

export function camtFile(message: string, version: string, inside: string): string {
  const name = `urn:iso:std:iso:20022:tech:xsd:camt.${message}.001.${version}`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${name}">\n${inside}\n</Document>\n`;
}

function statementOf(version: CamtVersion, one: SampleStatement, number: number): string {
  const { id = `S${number}`, iban = 'XX11BANK01', currency = 'EUR' } = one;
  const balances = [
    one.opening === undefined ? '' : balanceOf('OPBD', one.opening, currency),
    one.closing === undefined ? '' : balanceOf('CLBD', one.closing, currency),
  ];
  const entries = one.entries.map((entry) => entryOf(version, entry, currency));
  const account = accountOf(iban, currency);
  return `<Stmt><Id>${id}</Id>${account}${balances.join('')}${entries.join('\n')}</Stmt>`;
}

function accountOf(iban: string, currency: string): string {
  return `<Acct><Id><IBAN>${iban}</IBAN></Id><Ccy>${currency}</Ccy></Acct>`;
}

function balanceOf(code: string, amount: string, currency: string): string {
  const side = amount.startsWith('-') ? 'DBIT' : 'CRDT';
  const type = `<Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>`;
  const shown = `<Amt Ccy="${currency}">${amount.replace('-', '')}</Amt>`;
  return `<Bal>${type}${shown}<CdtDbtInd>${side}</CdtDbtInd><Dt><Dt>2026-08-17</Dt></Dt></Bal>`;
}

function entryOf(version: CamtVersion, entry: SampleEntry, currency: string): string {
  const { amount, side = 'CRDT', extra = '', details = '', status = 'BOOK' } = entry;
  const code = version === '02' ? status : `<Cd>${status}</Cd>`;
  return (
    `<Ntry><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${side}</CdtDbtInd>` +
    `${extra.includes('RvslInd') ? extra : ''}<Sts>${code}</Sts>` +
    `<BookgDt><Dt>2026-08-17</Dt></BookgDt><ValDt><Dt>2026-08-16</Dt></ValDt>` +
    `${extra.includes('RvslInd') ? '' : extra}` +
    `<BkTxCd><Domn><Cd>PMNT</Cd></Domn></BkTxCd>` +
    `${details === '' ? '' : `<NtryDtls>${details}</NtryDtls>`}</Ntry>`
  );
}

/** A transfer of a customer, as a transaction of an entry. */
export function transfer(
  version: CamtVersion,
  one: { payer: string; iban?: string; text?: string; reference?: string; amount?: string },
): string {
  const { payer, iban = 'XX99PAYER1', text, reference, amount } = one;
  const named = version === '02' ? `<Nm>${payer}</Nm>` : `<Pty><Nm>${payer}</Nm></Pty>`;
  const shown =
    version === '02'
      ? `<AmtDtls><TxAmt><Amt Ccy="EUR">${amount}</Amt></TxAmt></AmtDtls>`
      : `<Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd>`;
  const structured = `<Strd><CdtrRefInf><Ref>${reference}</Ref></CdtrRefInf></Strd>`;
  return (
    `<TxDtls><Refs><EndToEndId>NOTPROVIDED</EndToEndId></Refs>${amount ? shown : ''}` +
    `<RltdPties><Dbtr>${named}</Dbtr><DbtrAcct><Id><IBAN>${iban}</IBAN></Id></DbtrAcct></RltdPties>` +
    `<RmtInf>${text ? `<Ustrd>${text}</Ustrd>` : ''}${reference ? structured : ''}</RmtInf></TxDtls>`
  );
}

export function mt940(lines: string[], balances = { opening: '100,', closing: '100,' }): string {
  return [
    '{1:F01BANKXX00AXXX0000000000}{2:I940BANKXX00XXXXN}{4:',
    ':20:STARTUMS',
    ':25:12030000/1234567',
    ':28C:00123/001',
    `:60F:C260816EUR${balances.opening}`,
    ...lines,
    `:62F:C260817EUR${balances.closing}`,
    '-}',
    '',
  ].join('\r\n');
}
