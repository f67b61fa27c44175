// Field 86 of MT940: text, or subfields that begin with ?20 or with /NAME/.
import { kept } from './statement.ts';

export type Information = {
  payer: string | null;
  payerAccount: string | null;
  text: string | null;
  reference: string | null;
};

const noReference = /^(?:NONREF|NOTPROVIDED)$/i;

export function informationOf(sent: string): Information {
  const joined = sent.replaceAll('\n', '');
  if (/^\d{3}\?/.test(joined) || /^\?\d{2}/.test(joined)) return ofNumbered(joined);
  if (/^\/[A-Z]{2,8}\//.test(joined)) return ofNamed(joined);
  return { payer: null, payerAccount: null, text: kept(sent), reference: null };
}

/** `166?20EREF+…?21SVWZ+…?31account?32name?33name` */
function ofNumbered(text: string): Information {
  const fields = new Map<string, string>();
  for (const part of text.split('?').slice(1)) {
    const code = part.slice(0, 2);
    fields.set(code, (fields.get(code) ?? '') + part.slice(2));
  }
  const codes = [...fields.keys()].filter((code) => /^(?:2\d|6[0-3])$/.test(code));
  const purpose = codes.map((code) => fields.get(code)).join('');
  const words = keywordsOf(purpose);
  const reference = words.get('EREF') ?? words.get('KREF');
  return {
    payer: kept(`${fields.get('32') ?? ''}${fields.get('33') ?? ''}`, 140),
    payerAccount: kept(fields.get('31'), 64),
    text: kept(words.get('SVWZ') ?? purpose),
    reference: reference && !noReference.test(reference) ? kept(reference, 140) : null,
  };
}

/** `EREF+…SVWZ+…` inside a purpose. */
function keywordsOf(purpose: string): Map<string, string> {
  const parts = purpose.split(/(EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|IBAN|BIC)\+/);
  const words = new Map<string, string>();
  for (let at = 1; at < parts.length; at += 2) {
    words.set(parts[at] ?? '', (parts[at + 1] ?? '').trim());
  }
  return words;
}

/** `/EREF/…/NAME/…/IBAN/…/REMI/…` */
function ofNamed(text: string): Information {
  const parts = text.split(/\/([A-Z]{2,8})\//);
  const words = new Map<string, string>();
  for (let at = 1; at < parts.length; at += 2) words.set(parts[at] ?? '', parts[at + 1] ?? '');
  const reference = words.get('EREF') ?? words.get('RTRN');
  const text86 = words.get('REMI') ?? words.get('PREF');
  return {
    payer: kept(words.get('NAME') ?? words.get('ORDP'), 140),
    payerAccount: kept(words.get('IBAN') ?? words.get('CNTP'), 64),
    text: kept((text86 ?? '').replace(/^(?:USTD|STRD)\/+/, '')),
    reference: reference && !noReference.test(reference.trim()) ? kept(reference, 140) : null,
  };
}
