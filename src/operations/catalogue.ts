// Every operation of the API. One loop registers them; the types of the client come from here too.

import { makeAdjustments } from './adjustments/make-adjustments.ts';
import { waiveSurcharge } from './adjustments/waive-surcharge.ts';
import { decideApproval } from './approvals/decide-approval.ts';
import { getApprovals } from './approvals/get-approvals.ts';
import { getAudit } from './audit/get-audit.ts';
import { changePassword } from './auth/change-password.ts';
import { confirmTotp } from './auth/confirm-totp.ts';
import { enrolTotp } from './auth/enrol-totp.ts';
import { getClients } from './auth/get-clients.ts';
import { getLogins } from './auth/get-logins.ts';
import { login } from './auth/login.ts';
import { logout } from './auth/logout.ts';
import { makeClients } from './auth/make-clients.ts';
import { makeLogins } from './auth/make-logins.ts';
import { redeemLink } from './auth/redeem-link.ts';
import { refreshToken } from './auth/refresh-token.ts';
import { requestLink } from './auth/request-link.ts';
import { requestPasswordReset } from './auth/request-password-reset.ts';
import { resetPassword } from './auth/reset-password.ts';
import { resetTotp } from './auth/reset-totp.ts';
import { updateClientOperation } from './auth/update-client.ts';
import { updateLoginOperation } from './auth/update-login.ts';
import { getBankFiles } from './bank-files/get-bank-files.ts';
import { getBankLines } from './bank-files/get-bank-lines.ts';
import { getMappings } from './bank-files/get-mappings.ts';
import { importBankFile } from './bank-files/import-bank-file.ts';
import { makeMappings } from './bank-files/make-mappings.ts';
import { matchBankLine } from './bank-files/match-bank-line.ts';
import { addBillingGroup } from './billing-groups/add.ts';
import { assignBillingAccounts } from './billing-groups/assign-accounts.ts';
import { getBillingGroup } from './billing-groups/get.ts';
import { listBillingGroupsOperation } from './billing-groups/list.ts';
import { removeBillingAccounts } from './billing-groups/remove-accounts.ts';
import { updateBillingGroupOperation } from './billing-groups/update-group.ts';
import { cancelBillOperation } from './bills/cancel-bill.ts';
import { compareRuns } from './bills/compare-runs.ts';
import { distributeBills } from './bills/distribute-bills.ts';
import { explainBill } from './bills/explain-bill.ts';
import { generateBills } from './bills/generate-bills.ts';
import { getBillDocument } from './bills/get-bill-document.ts';
import { getBillTerm } from './bills/get-bill-term.ts';
import { getBills } from './bills/get-bills.ts';
import { getDeliveries } from './bills/get-deliveries.ts';
import { getPaymentDetails } from './bills/get-payment-details.ts';
import { getPrintFile } from './bills/get-print-file.ts';
import { getPrintFiles } from './bills/get-print-files.ts';
import { holdBill } from './bills/hold-bill.ts';
import { holdBills } from './bills/hold-bills.ts';
import { postBills } from './bills/post-bills.ts';
import { publishBills } from './bills/publish-bills.ts';
import { resolveDeliveriesOperation } from './bills/resolve-deliveries.ts';
import { unpostBills } from './bills/unpost-bills.ts';
import { closeDay } from './cash-desks/close-day.ts';
import { getCashDesks } from './cash-desks/get-cash-desks.ts';
import { makeCashDesks } from './cash-desks/make-cash-desks.ts';
import { billConnection } from './connections/bill-connection.ts';
import { changeTariff } from './connections/change-tariff.ts';
import { closeConnection } from './connections/close-connection.ts';
import { disconnectConnection } from './connections/disconnect-connection.ts';
import { getConnections } from './connections/get-connections.ts';
import { getUsage } from './connections/get-usage.ts';
import { makeConnections } from './connections/make-connections.ts';
import { reconnectConnection } from './connections/reconnect-connection.ts';
import { transferConnection } from './connections/transfer-connection.ts';
import { updateConnection } from './connections/update-connection.ts';
import { getCreditNoteDocument } from './credit-notes/get-credit-note-document.ts';
import { getCreditNotes } from './credit-notes/get-credit-notes.ts';
import { makeCreditNotes } from './credit-notes/make-credit-notes.ts';
import { demandDeposit } from './deposits/demand-deposit.ts';
import { getDeposits } from './deposits/get-deposits.ts';
import { refundDeposit } from './deposits/refund-deposit.ts';
import { getDisputes } from './disputes/get-disputes.ts';
import { makeDisputes } from './disputes/make-disputes.ts';
import { resolveDispute } from './disputes/resolve-dispute.ts';
import { endArrangement } from './dunning/end-arrangement.ts';
import { getDunning } from './dunning/get-dunning.ts';
import { getReminderDocument } from './dunning/get-reminder-document.ts';
import { makeInstalmentPlans } from './dunning/make-instalment-plans.ts';
import { makePromises } from './dunning/make-promises.ts';
import { getEvents } from './events/get-events.ts';
import { getWebhookMessages } from './events/get-webhook-messages.ts';
import { getWebhooks } from './events/get-webhooks.ts';
import { makeWebhooks } from './events/make-webhooks.ts';
import { redeliverEvent } from './events/redeliver-event.ts';
import { updateWebhookOperation } from './events/update-webhook.ts';
import { exportData } from './exports/export-data.ts';
import { getGateways } from './gateways/get-gateways.ts';
import { makeGateways } from './gateways/make-gateways.ts';
import { updateGatewayOperation } from './gateways/update-gateway.ts';
import { importData } from './imports/import-data.ts';
import { uploadPart } from './imports/upload-part.ts';
import { cancelJobOperation } from './jobs/cancel-job.ts';
import { getJobs } from './jobs/get-jobs.ts';
import { closeMonth } from './ledger/close-month.ts';
import { exportMonth } from './ledger/export-month.ts';
import { getLedgerAccounts } from './ledger/get-accounts.ts';
import { getJournals } from './ledger/get-journals.ts';
import { getTrialBalance } from './ledger/get-trial-balance.ts';
import { makeLedgerAccounts } from './ledger/make-accounts.ts';
import { reopenMonth } from './ledger/reopen-month.ts';
import { updateLedgerAccount } from './ledger/update-account.ts';
import { getLookups } from './lookups/get-lookups.ts';
import { assignMeterOperation } from './meters/assign-meter.ts';
import { getMeterMetaData } from './meters/get-meter-metaData.ts';
import { getMeters } from './meters/get-meters.ts';
import { getReadingTerms } from './meters/get-reading-terms.ts';
import { getReadings } from './meters/get-readings.ts';
import { getRouteSheet } from './meters/get-route-sheet.ts';
import { makeMeterTypes } from './meters/make-meter-types.ts';
import { makeMeters } from './meters/make-meters.ts';
import { makeReadings } from './meters/make-readings.ts';
import { removeMeterOperation } from './meters/remove-meter.ts';
import { replaceMeterOperation } from './meters/replace-meter.ts';
import { reviewReadingOperation } from './meters/review-reading.ts';
import { updateMeterOperation } from './meters/update-meter.ts';
import type { Operation } from './operation.ts';
import { clearPayment } from './payments/clear-payment.ts';
import { getPayments } from './payments/get-payments.ts';
import { getReceiptDocument } from './payments/get-receipt-document.ts';
import { makePayments } from './payments/make-payments.ts';
import { reallocatePayment } from './payments/reallocate-payment.ts';
import { refundPayment } from './payments/refund-payment.ts';
import { reversePayment } from './payments/reverse-payment.ts';
import { settleWallet } from './payments/settle-wallet.ts';
import { transferPayment } from './payments/transfer-payment.ts';
import { getPeriods } from './periods/get-periods.ts';
import { makePeriods } from './periods/make-periods.ts';
import { getReport } from './reports/get-report.ts';
import { search } from './search/search.ts';
import { createService } from './services/create-service.ts';
import { getBatches } from './services/get-batches.ts';
import { getServices } from './services/get-services.ts';
import { updateService } from './services/update-service.ts';
import { getSettings } from './settings/get-settings.ts';
import { moveClock } from './settings/move-clock.ts';
import { updateSettingsOperation } from './settings/update-settings.ts';
import { getStatement } from './statements/get-statement.ts';
import { getStatementDocument } from './statements/get-statement-document.ts';
import { createTariff } from './tariffs/create-tariff.ts';
import { getTariffs } from './tariffs/get-tariffs.ts';
import { simulateTariff } from './tariffs/simulate-tariff.ts';
import { updateTariff } from './tariffs/update-tariff.ts';
import { getTemplates } from './templates/get-templates.ts';
import { makeTemplates } from './templates/make-templates.ts';
import { previewTemplate } from './templates/preview-template.ts';
import { updateTemplate } from './templates/update-template.ts';
import { cancelTermOperation } from './terms/cancel-term.ts';
import { getRunBoard } from './terms/get-run-board.ts';
import { getTermPopulation } from './terms/get-term-population.ts';
import { getTerms } from './terms/get-terms.ts';
import { makeTerm } from './terms/make-term.ts';
import { postManualComponentValues } from './terms/post-manual-component-values.ts';
import { postMeterReadings } from './terms/post-meter-readings.ts';
import { simulateTerm } from './terms/simulate-term.ts';
import { unpostMeterReadings } from './terms/unpost-meter-readings.ts';
import { updateTermOperation } from './terms/update-term.ts';
import { uploadMeterReadings } from './terms/upload-meter-readings.ts';
import { uploadUsage } from './terms/upload-usage.ts';
import { eraseParty } from './users/erase-party.ts';
import { getNotes } from './users/get-notes.ts';
import { getUsers } from './users/get-users.ts';
import { listUsers } from './users/list-users.ts';
import { makeNotes } from './users/make-notes.ts';
import { makeUsers } from './users/make-users.ts';
import { updateOwnDetails } from './users/update-own-details.ts';
import { updateUser } from './users/update-user.ts';

export const catalogue = {
  addBillingGroup,
  listBillingGroups: listBillingGroupsOperation,
  getBillingGroup,
  updateBillingGroup: updateBillingGroupOperation,
  assignBillingAccounts,
  removeBillingAccounts,
  makeUsers,
  updateUser,
  updateOwnDetails,
  eraseParty,
  makeNotes,
  getNotes,
  getUsers,
  listUsers,
  makeConnections,
  getConnections,
  getUsage,
  updateConnection,
  disconnectConnection,
  reconnectConnection,
  closeConnection,
  transferConnection,
  changeTariff,
  makeMeters,
  getMeters,
  getMeterMetaData,
  makeMeterTypes,
  updateMeter: updateMeterOperation,
  assignMeter: assignMeterOperation,
  replaceMeter: replaceMeterOperation,
  removeMeter: removeMeterOperation,
  makeReadings,
  getReadings,
  reviewReading: reviewReadingOperation,
  generateBills,
  getBillTerm,
  getBills,
  holdBill,
  holdBills,
  explainBill,
  compareRuns,
  postBills,
  unpostBills,
  cancelBill: cancelBillOperation,
  billConnection,
  makeCreditNotes,
  waiveSurcharge,
  demandDeposit,
  refundDeposit,
  getDeposits,
  makeDisputes,
  getDisputes,
  resolveDispute,
  getCreditNotes,
  getCreditNoteDocument,
  makePayments,
  getPayments,
  getReceiptDocument,
  reversePayment,
  refundPayment,
  reallocatePayment,
  settleWallet,
  transferPayment,
  clearPayment,
  getApprovals,
  decideApproval,
  makeCashDesks,
  getCashDesks,
  closeDay,
  makeAdjustments,
  getDunning,
  getReminderDocument,
  makePromises,
  makeInstalmentPlans,
  endArrangement,
  getStatement,
  getStatementDocument,
  importData,
  uploadPart,
  makeMappings,
  getMappings,
  importBankFile,
  getBankFiles,
  getBankLines,
  matchBankLine,
  publishBills,
  distributeBills,
  getBillDocument,
  getPaymentDetails,
  getDeliveries,
  getPrintFiles,
  getPrintFile,
  resolveDeliveries: resolveDeliveriesOperation,
  exportData,
  getReadingTerms,
  getRouteSheet,
  login,
  refreshToken,
  requestLink,
  redeemLink,
  requestPasswordReset,
  resetPassword,
  enrolTotp,
  confirmTotp,
  resetTotp,
  logout,
  changePassword,
  makeLogins,
  getLogins,
  updateLogin: updateLoginOperation,
  makeClients,
  getClients,
  updateClient: updateClientOperation,
  createService,
  getServices,
  updateService,
  getBatches,
  createTariff,
  updateTariff,
  getTariffs,
  simulateTariff,
  makePeriods,
  getPeriods,
  makeTemplates,
  getTemplates,
  previewTemplate,
  updateTemplate,
  getLookups,
  search,
  makeTerm,
  getRunBoard,
  getTermPopulation,
  getTerms,
  updateTerm: updateTermOperation,
  uploadMeterReadings,
  postMeterReadings,
  unpostMeterReadings,
  postManualComponentValues,
  uploadUsage,
  getJobs,
  cancelJob: cancelJobOperation,
  cancelTerm: cancelTermOperation,
  simulateTerm,
  getSettings,
  updateSettings: updateSettingsOperation,
  moveClock,
  getAudit,
  getEvents,
  makeGateways,
  getGateways,
  updateGateway: updateGatewayOperation,
  makeWebhooks,
  getWebhooks,
  updateWebhook: updateWebhookOperation,
  redeliverEvent,
  getWebhookMessages,
  getTrialBalance,
  getReport,
  getJournals,
  getLedgerAccounts,
  makeLedgerAccounts,
  updateLedgerAccount,
  closeMonth,
  reopenMonth,
  exportMonth,
};

export type Catalogue = typeof catalogue;
export type OperationName = keyof Catalogue;

/** The same, where only the common shape of an operation matters. */
export const operations = Object.entries(catalogue) as unknown as [OperationName, Operation][];
