// A transaction of a camt entry: its payer, its references and its text.
import { textAt, treeAt, type XmlTree } from '../../base/xml/read.ts';
import { dateAt, kept } from './statement.ts';

export type Details = {
  payer: string | null;
  payerAccount: string | null;
  text: string | null;
  reference: string | null;
  bankId: string | undefined;
};

/** References that banks fill in where the payer gave none. */
const noReference = /^(?:not ?provided|nonref|n\/?a|-)$/i;

export function detailsOf(tree: XmlTree | undefined, { isCredit }: { isCredit: boolean }): Details {
  const side = isCredit ? 'Dbtr' : 'Cdtr';
  const parties = treeAt(tree, 'RltdPties');
  const name =
    nameOf(treeAt(parties, `Ultmt${side}`)) ?? nameOf(treeAt(parties, side)) ?? undefined;
  const account = treeAt(parties, `${side}Acct`, 'Id');
  const remittance = treeAt(tree, 'RmtInf');
  const texts = remittance?.children.filter((one) => one.name === 'Ustrd') ?? [];
  const structured = remittance?.children.filter((one) => one.name === 'Strd') ?? [];
  const references = [
    ...structured.map((one) => textAt(one, 'CdtrRefInf', 'Ref')),
    ...structured.map((one) => textAt(one, 'RfrdDocInf', 'Nb')),
    textAt(tree, 'Refs', 'EndToEndId'),
  ];
  const useful = references.filter((one) => one !== undefined && !noReference.test(one));
  const notes = [...texts, ...structured.flatMap((one) => treeAt(one, 'AddtlRmtInf') ?? [])];
  return {
    payer: kept(name, 140),
    payerAccount: kept(textAt(account, 'IBAN') ?? textAt(account, 'Othr', 'Id'), 64),
    text: kept(notes.map((one) => one.text).join(' ')) ?? kept(textAt(tree, 'AddtlTxInf')),
    reference: kept([...new Set(useful)].join(' '), 140),
    bankId: textAt(tree, 'Refs', 'AcctSvcrRef'),
  };
}

/** Since version 08 a party or an agent has its name one level lower. */
function nameOf(party: XmlTree | undefined): string | undefined {
  return textAt(party, 'Pty', 'Nm') ?? textAt(party, 'Nm');
}

const dayForm = /^(\d{4})-(\d{2})-(\d{2})/;

/** A day, or a time of which the bank's own day counts. */
export function camtDate(tree: XmlTree | undefined, fileLine: number): string {
  const text = textAt(tree, 'Dt') ?? textAt(tree, 'DtTm') ?? '';
  const [, year, month, day] = dayForm.exec(text) ?? [];
  const parts = { year: Number(year), month: Number(month), day: Number(day) };
  return dateAt(year === undefined ? undefined : parts, text, fileLine);
}
