// What an e-invoice needs besides the bill.

export type EInvoiceSetting = {
  format: 'UBL';
  /** Of the seller, with the prefix of its country: DE123456789. */
  vatID: string;
  street: string;
  city: string;
  postalCode: string;
  /** Which components of bills are value added tax, and on which components each is charged. */
  vat: readonly VatComponent[];
};

/** Without `on`, on all components that are no value added tax themselves. */
export type VatComponent = { component: string; on?: readonly string[] | null };
