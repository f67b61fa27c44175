// A bank line that waits for a clerk, and whose money nothing has booked.
import type { Tampering } from './tampering.ts';

export function waitingLine(tenantId: number): Tampering {
  return {
    what: 'a bank line waits whose money is not on Suspense',
    table: 'bank_lines',
    statements: `insert into bank_lines (tenant_id, bank_line_id, bank_file_id, line_number,
        bank_account_id, fingerprint, line_date, amount, is_reversal, status, is_open, in_suspense)
      values (${tenantId}, 1, 1, 1, 1, '\\x01', '2026-01-01', 100, false, 'Unmatched', true, true)`,
    checks: ['L20'],
    names: /^Suspense is 0, bank lines that wait come to 100$/,
  };
}
