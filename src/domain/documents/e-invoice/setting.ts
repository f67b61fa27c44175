// What an e-invoice needs besides the bill.

export type EInvoiceSetting = {
  /** UBL: a file of its own. FacturX: the PDF is PDF/A-3 and has the XML (CII) inside. */
  format: 'UBL' | 'FacturX';
  /** Of the seller, with the prefix of its country: DE123456789. */
  vatID: string;
  street: string;
  city: string;
  postalCode: string;
  /** Which components of bills are value added tax, and on which components each is charged. */
  vat: readonly VatComponent[];
  /** Why components have no value added tax. Others that have none are exempt. */
  untaxed?: readonly UntaxedComponents[] | null;
};

/** Without `on`, on all components that are no value added tax themselves. */
export type VatComponent = { component: string; on?: readonly string[] | null };

export type UntaxedComponents = {
  on: readonly string[];
  category: 'Exempt' | 'ZeroRated';
  /** Of an exemption. */
  reason?: string | null;
};
