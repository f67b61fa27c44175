// A bill as a few lines for the terminal.
import type { DataOf } from '../../../sdk/client.ts';

export type PrintedBill = DataOf<'getBills'>['bills'][number];

const width = 64;

export function printBill(bill: PrintedBill): string {
  const days = `${bill.startDate} to ${bill.endDate}`;
  return [
    '─'.repeat(width),
    pair(`Bill ${bill.billNumber}`, days),
    pair(`${bill.partyName} (${bill.partyNumber})`, bill.connectionNumber ?? ''),
    ...bill.meterReadings.map((reading) =>
      pair(
        `  Meter ${reading.meterNumber}: ${reading.previousReading} to ${reading.currentReading}`,
        `${reading.consumption} ${reading.register ?? ''}`,
      ),
    ),
    ...bill.lines.map((line) => pair(`  ${line.label}`, money(line.amount))),
    pair('Current charges', money(bill.currentCharges)),
    pair('Arrears', money(bill.arrears)),
    pair(`Payable by ${bill.dueDate}, ${bill.currency}`, money(bill.payableWithinDueDate)),
  ].join('\n');
}

function pair(left: string, right: string): string {
  return left.padEnd(width - right.length) + right;
}

function money(amount: number): string {
  return amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}
