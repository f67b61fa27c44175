// A bill with made-up figures, to see a letterhead and a template before there is any bill. It
// takes the way of a stored bill.
import type { StoredBill, StoredLine } from '../bills/bill-forms.ts';

/** Dates are YYYY-MM-DD. */
export type SampleOf = {
  billedFrom: string;
  billedTo: string;
  days: number;
  dueDate: string;
  currencyDecimals: number;
};

// 1,200 + 300 + 150 = 1,650; with arrears of 350, 2,000.
export function sampleBill(of: SampleOf): StoredBill {
  const minor = (major: number) => major * 10 ** of.currencyDecimals;
  const amount = (major: number) => String(minor(major));
  return {
    bill_id: 1,
    bill_number: 'SAMPLE-000001',
    bill_type: 'Regular',
    status: 'Published',
    subscription_id: 1,
    account_id: 1,
    party_id: 1,
    due_date: of.dueDate,
    billed_from: of.billedFrom,
    billed_to: of.billedTo,
    days: of.days,
    current_charges: amount(1_650),
    tax_amount: amount(150),
    rounding_adjustment: '0',
    bill_amount: amount(1_650),
    previous_balance: amount(350),
    payments_received: '0',
    adjustments: '0',
    arrears: amount(350),
    wallet_applied: '0',
    payable: amount(2_000),
    credit_balance: '0',
    late_surcharge: amount(100),
    document: {
      tariffCode: 'SAMPLE',
      tariffLabel: 'Sample plan',
      tariffVersion: 1,
      partyNumber: 100_001,
      partyName: 'Sample Customer',
      address: { buildingNo: '12', street: 'Sample Street', city: 'Sample City' },
      connectionGroupLabel: 'Sample account',
      lines: [
        line({ label: 'Usage', amount: minor(1_200), quantity: '120', unit: 'units', rate: '10' }),
        line({ label: 'Fixed charge', amount: minor(300) }),
        line({ label: 'Sales tax', type: 'Tax', amount: minor(150) }),
      ],
    },
    frozen: {
      term: { startDate: '', endDate: '' },
      connection: { connectionNumber: 'SAMPLE-1' },
    },
  };
}

function line(own: Pick<StoredLine, 'label' | 'amount'> & Partial<StoredLine>): StoredLine {
  return { component: 'sample', type: 'Charge', ...own };
}
