// Seller and buyer of an e-invoice.
import { countries } from '../../../base/countries.ts';
import type { BillDocument } from '../bill-document.ts';
import { lineText } from '../plain-text.ts';
import type { EInvoiceSetting } from './setting.ts';

/** What is not known is empty. */
export type InvoiceParty = {
  /** That the seller has given to the buyer. */
  number: string;
  name: string;
  street: string;
  city: string;
  postalCode: string;
  /** ISO 3166-1 alpha-2. */
  country: string;
  vatID: string;
};

export function sellerOf(setting: EInvoiceSetting, name: string, country: string): InvoiceParty {
  const { vatID, street, city, postalCode } = setting;
  return { number: '', name, street, city, postalCode, country, vatID };
}

/** Bills keep neither the postal code nor the tax number of a customer. */
export function buyerOf(
  { partyName, partyNumber, address }: Pick<BillDocument, 'partyName' | 'partyNumber' | 'address'>,
  country: string,
): InvoiceParty {
  return {
    number: String(partyNumber),
    name: lineText(partyName) || String(partyNumber),
    street: streetOf(address),
    city: lineText(address?.city),
    postalCode: '',
    country: codes.get(Number(address?.countryId)) ?? country,
    vatID: '',
  };
}

const codes = new Map(countries.map(({ id, code }) => [id, code]));

function streetOf(address: Readonly<Record<string, unknown>> | null | undefined): string {
  const parts = ['shopNo', 'buildingNo', 'buildingName', 'street', 'block', 'society'] as const;
  return parts
    .map((part) => lineText(address?.[part]))
    .filter((text) => text !== '')
    .join(', ');
}
