// Bills that differ as those of a bill run do: in names, addresses, numbers and figures.
import type { BillDocumentInput } from '../src/domain/documents/bill-document.ts';

export const firstNames = 'Ahmed Fatima José Ingrid Bilal Mary-Anne Søren Zoë Tariq Núria'.split(
  ' ',
);
const lastNames = 'Khan Müller Garcia O’Neill Malik Schmidt-Weiß Ferreira Ali Jönsson'.split(' ');
export const urduNames = 'احمد فاطمہ بلال زینب طارق عائشہ'.split(' ');
export const hindiNames = 'लक्ष्मी विजय सुनीता कृष्ण अर्जुन श्रेया'.split(' ');

export function numbered(
  base: BillDocumentInput,
  names: readonly string[],
  index: number,
): BillDocumentInput {
  const { bill } = base;
  const name = `${names[index % names.length]} ${lastNames[index % lastNames.length]}`;
  return {
    ...base,
    bill: {
      ...bill,
      billID: index,
      billNumber: `ELEC-2025-${String(index).padStart(6, '0')}`,
      billRefNo: String(1_000_000_000 + index * 7_919),
      partyName: `${name} ${index}`,
      partyNumber: 100_000 + index,
      connectionNumber: `E-${String(index).padStart(6, '0')}`,
      address: { ...bill.address, buildingNo: String(index), street: `Street ${index % 90}` },
      meterReadings: bill.meterReadings.map((reading, at) => ({
        ...reading,
        meterNumber: 700_000 + index * 2 + at,
        currentReading: String(40_000 + ((index * 37) % 9_000)),
      })),
      lines: bill.lines.map((line) => ({ ...line, amount: line.amount + (index % 997) * 1.07 })),
      currentCharges: bill.currentCharges + index,
      payableWithinDueDate: bill.payableWithinDueDate + index,
      payableAfterDueDate: bill.payableAfterDueDate + index,
    },
  };
}
