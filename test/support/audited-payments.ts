// Payments and adjustments of a workspace whose first party has subscriptions, and what the audit
// trail says of each.
import type { TestClient } from './client.ts';
import { smallService } from './pricing.ts';

const bankColumns = { date: '1', amount: '2', dateFormat: 'DD/MM/YYYY', decimal: '.' } as const;

export function auditedPayments(admin: TestClient) {
  return {
    ...auditedArrangements(admin),
    ...auditedDisputes(admin),
    makePayments: {
      call: () => {
        const paid = { reference: 'P-1', partyID: 1, amount: 1_000_000 };
        return admin.makePayments({ payments: [{ ...paid, paymentMethod: 'Cash' }] });
      },
      subject: 'payment',
      before: null,
      after: { reference: 'P-1', amount: 100_000_000, partyId: 1 },
    },
    makeAdjustments: {
      call: async () => {
        const { data } = await admin.getConnections({ partyID: 1 });
        const [{ connectionNumber = '' } = {}] = data.connections;
        const fee = { component: 'energyCharge', kind: 'Debit', amount: 10 } as const;
        const adjustment = { reference: 'A-1', connectionNumber, ...fee, reason: 'Seal broken' };
        return admin.makeAdjustments({ adjustments: [adjustment] });
      },
      subject: 'adjustment',
      before: null,
      after: { reference: 'A-1', kind: 'Debit', amount: 1_000, reason: 'Seal broken' },
    },
    ...auditedBankFiles(admin),
    settleWallet: {
      call: () => admin.settleWallet({ data: { partyID: 1 } }),
      subject: 'wallet',
      before: null,
      after: { used: 1_000 },
    },
    refundPayment: {
      call: () => {
        const data = { partyID: 1, amount: 1, reference: 'F-1', paymentMethod: 'Bank' } as const;
        return admin.refundPayment({ data });
      },
      subject: 'payment',
      before: null,
      after: { reference: 'F-1', amount: 100, partyId: 1 },
    },
    reversePayment: {
      call: async () => {
        const { data } = await admin.getPayments({ reference: 'P-1' });
        const paymentID = data.payments[0]?.paymentID ?? 0;
        return admin.reversePayment({ data: { paymentID, reason: 'Bounced' } });
      },
      subject: 'payment',
      before: { status: 'Posted', reason: null },
      after: { status: 'Reversed', reason: 'Bounced' },
    },
  };
}

/** Cash desks, cheques, payments that are moved, and what a second person approves. */
export function auditedDesks(admin: TestClient, second: () => Promise<TestClient>) {
  const pay = async (reference: string, more = {}) => {
    const paid = { reference, partyID: 1, amount: 10, paymentMethod: 'Cheque', ...more } as const;
    const { headers } = await admin.makePayments({ payments: [paid] });
    return Number(headers.get('x-resource-id'));
  };
  return {
    decideApproval: {
      call: async () => {
        const limited = (approvalLimit: number | null) =>
          admin.updateSettings({ data: { approvalLimit } });
        await pay('C-0', { paymentMethod: 'Cash', amount: 5_000_000 });
        await limited(0);
        const wanted = { partyID: 1, amount: 1, reference: 'F-2', paymentMethod: 'Cash' } as const;
        await (await second()).refundPayment({ data: wanted }).catch(() => {});
        await limited(null);
        const data = { approvalID: 1, decision: 'Reject', reason: 'Not agreed' } as const;
        return admin.decideApproval({ data });
      },
      subject: 'approval',
      before: { status: 'Waiting', reason: null },
      after: { status: 'Rejected', reason: 'Not agreed' },
    },
    makeCashDesks: {
      call: () => {
        const desk = { code: 'MAIN', name: 'Gate', cashAccountID: 1 };
        return admin.makeCashDesks({ cashDesks: [desk] });
      },
      subject: 'cash-desk',
      before: null,
      after: { code: 'MAIN', name: 'Gate', cashAccountId: 1 },
    },
    closeDay: {
      call: () => admin.closeDay({ data: { cashDesk: 'MAIN', counted: [] } }),
      subject: 'cash-desk',
      before: { isClosed: false },
      after: { isClosed: true, counted: [] },
    },
    clearPayment: {
      call: async () => admin.clearPayment({ data: { paymentID: await pay('C-1') } }),
      subject: 'payment',
      before: { clearedDate: null },
      after: {},
    },
    reallocatePayment: {
      call: async () => {
        const data = { paymentID: await pay('C-2'), allocations: [], reason: 'For later' };
        return admin.reallocatePayment({ data });
      },
      subject: 'payment',
      before: { allocations: null },
      after: { allocations: [], reason: 'For later' },
    },
    transferPayment: {
      call: async () => {
        const { data: found } = await admin.listUsers({ partyID: 2 });
        const toPartyNumber = found.users[0]?.partyNumber ?? 0;
        const data = { paymentID: await pay('C-3'), toPartyNumber, reason: 'Wrong house' };
        return admin.transferPayment({ data });
      },
      subject: 'payment',
      before: { status: 'Posted', movedTo: null },
      after: { status: 'Reversed', reason: 'Wrong house' },
    },
  };
}

/** Arrangements with a customer who owes. */
function auditedArrangements(admin: TestClient) {
  let arrangementID = 0;
  return {
    makePromises: {
      call: async () => {
        const promise = { partyNumber: 100001, amount: 5, date: '31/12/2099', reason: 'Payday' };
        const answer = await admin.makePromises({ promises: [promise] });
        arrangementID = Number(answer.headers.get('x-resource-id'));
        return answer;
      },
      subject: 'arrangement',
      before: null,
      after: { kind: 'Promise', amount: 500, reason: 'Payday' },
    },
    endArrangement: {
      call: () => admin.endArrangement({ data: { arrangementID, reason: 'Moved away' } }),
      subject: 'arrangement',
      before: { status: 'Active', reason: 'Payday' },
      after: { status: 'Ended', reason: 'Moved away' },
    },
    makeInstalmentPlans: {
      call: async () => {
        const { data } = await admin.getBills({ partyID: 1, status: 'Published' });
        const bill = data.bills.find((one) => (one.outstandingAmount ?? 0) > 0);
        const amount = bill?.outstandingAmount ?? 0;
        const instalments = [{ dueDate: '31/12/2099', amount }];
        const { connectionNumber, billID = 0 } = bill ?? {};
        const plan = { connectionNumber: connectionNumber ?? '', billIDs: [billID], instalments };
        return admin.makeInstalmentPlans({ plans: [{ ...plan, reason: 'No job' }] });
      },
      subject: 'arrangement',
      before: null,
      after: { kind: 'InstalmentPlan', reason: 'No job' },
    },
  };
}

/** The chart of accounts, and months that are closed. */
export function auditedBooks(admin: TestClient) {
  return {
    makeLedgerAccounts: {
      call: () => {
        const account = { code: '4410', name: 'Power', kind: 'Income' } as const;
        return admin.makeLedgerAccounts({ accounts: [account] });
      },
      subject: 'ledger-account',
      before: null,
      after: { code: '4410', name: 'Power', kind: 'Income' },
    },
    updateLedgerAccount: {
      call: () => admin.updateLedgerAccount({ data: { accountCode: '4410', name: 'Energy' } }),
      subject: 'ledger-account',
      before: { name: 'Power' },
      after: { name: 'Energy' },
    },
    closeMonth: {
      call: () => admin.closeMonth({ data: { month: '01/2001', reason: 'Reconciled' } }),
      subject: 'ledger-month',
      before: { isClosed: false, reason: null },
      after: { isClosed: true, reason: 'Reconciled' },
    },
    reopenMonth: {
      call: () => admin.reopenMonth({ data: { month: '01/2001', reason: 'Forgotten' } }),
      subject: 'ledger-month',
      before: { isClosed: true, reason: null },
      after: { isClosed: false, reason: 'Forgotten' },
    },
  };
}

function auditedBankFiles(admin: TestClient) {
  return {
    uploadPart: {
      call: () => {
        const contentBase64 = Buffer.from('abc').toString('base64');
        return admin.uploadPart({ uploadID: 'audited', partNo: 1, contentBase64, last: true });
      },
      subject: 'upload',
      before: null,
      after: { partNo: 1, bytes: 3, last: true },
    },
    makeMappings: {
      call: () => admin.makeMappings({ mappings: [{ name: 'Bank', columns: bankColumns }] }),
      subject: 'bank mapping',
      before: null,
      after: { columns: bankColumns },
    },
    importBankFile: {
      call: async () => {
        const bankAccounts = [{ title: 'Audited' }];
        await admin.createService({ service: { ...smallService, code: 'AUDITED', bankAccounts } });
        return admin.importBankFile({
          ...{ bankAccountID: 1, format: 'CSV', mappingName: 'Bank', fileName: 'a.csv' },
          contentBase64: Buffer.from('01/02/2024,7\n').toString('base64'),
        });
      },
      subject: 'bank file',
      before: null,
      after: { bankAccountID: 1, format: 'CSV', fileName: 'a.csv' },
    },
    matchBankLine: {
      call: () => admin.matchBankLine({ data: { bankLineID: 1, ignore: true, reason: 'Loan' } }),
      subject: 'bank line',
      before: { status: 'Unmatched', reason: null },
      after: { status: 'Ignored', reason: 'Loan' },
    },
  };
}

function auditedDisputes(admin: TestClient) {
  return { ...auditedCredits(admin), ...auditedDeposits(admin) };
}

function auditedDeposits(admin: TestClient) {
  const reason = 'Paid late';
  const numberOf = async () => {
    const { data } = await admin.getConnections({ partyID: 1 });
    return data.connections[0]?.connectionNumber ?? '';
  };
  return {
    demandDeposit: {
      call: async () => {
        const connectionNumber = await numberOf();
        const data = { connectionNumber, amount: 10, reference: 'D-1', reason };
        return admin.demandDeposit({ data });
      },
      subject: 'deposit',
      before: null,
      after: { amount: 1_000, reference: 'D-1' },
    },
    refundDeposit: {
      call: async () => {
        const connectionNumber = await numberOf();
        const paid = { connectionNumber, amount: 1_000_000, paymentMethod: 'Cash' as const };
        await admin.makePayments({ payments: [{ ...paid, reference: 'P-0' }] });
        const data = { connectionNumber, amount: 4, reference: 'DR-1', reason };
        return admin.refundDeposit({ data });
      },
      subject: 'payment',
      before: null,
      after: { amount: 400, reference: 'DR-1' },
    },
  };
}

function auditedCredits(admin: TestClient) {
  return {
    makeCreditNotes: {
      call: async () => {
        const { data } = await admin.getBills({ partyID: 1, status: 'Published' });
        const [bill] = data.bills.filter((one) => (one.billAmount ?? 0) > 0);
        const charged = bill?.components?.find((one) => one.amount > 0);
        const lines = [{ component: charged?.component ?? '', amount: 0.01 }];
        const note = { reference: 'N-1', billID: bill?.billID ?? 0, lines, reason: 'Misread' };
        return admin.makeCreditNotes({ creditNotes: [note] });
      },
      subject: 'credit-note',
      before: null,
      after: { reference: 'N-1', reason: 'Misread' },
    },
    makeDisputes: {
      call: async () => {
        const { data } = await admin.getBills({ partyID: 1, status: 'Published' });
        const [bill] = data.bills.filter((one) => (one.outstandingAmount ?? 0) > 0);
        const disputed = { billID: bill?.billID ?? 0, amount: 0.01, reason: 'Too much' };
        return admin.makeDisputes({ disputes: [disputed] });
      },
      subject: 'dispute',
      before: null,
      after: { amount: 1, reason: 'Too much' },
    },
    resolveDispute: {
      call: async () => {
        const { data } = await admin.getDisputes({ status: 'Open' });
        const disputeID = data.disputes[0]?.disputeID ?? 0;
        return admin.resolveDispute({ data: { disputeID, outcome: 'Rejected', remark: 'Right' } });
      },
      subject: 'dispute',
      before: { status: 'Open', remark: null, creditNoteNumber: null },
      after: { status: 'Rejected', remark: 'Right', creditNoteNumber: null },
    },
  };
}
