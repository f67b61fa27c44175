// All steps of the bill run that run as jobs, by the name of their operation.

import type { Step } from '../jobs/step.ts';
import { billConnectionStep } from './bill-connection.ts';
import { cancelBillStep } from './cancel-bill.ts';
import { cancelTermStep } from './cancel-term.ts';
import { distributeBillsStep } from './distribute.ts';
import { generateBillsStep } from './generate.ts';
import { postMeterReadingsStep } from './lock-readings.ts';
import { postManualValuesStep } from './manual-values.ts';
import { postBillsStep } from './post.ts';
import { postBankLinesStep } from './post-bank-lines.ts';
import { publishBillsStep } from './publish.ts';
import { retryDeliveriesStep } from './retry-deliveries.ts';
import { unpostMeterReadingsStep } from './unlock-readings.ts';
import { unpostBillsStep } from './unpost.ts';
import { uploadMeterReadingsStep } from './upload-readings.ts';
import { uploadUsageStep } from './upload-usage.ts';

const all: readonly Step[] = [
  uploadMeterReadingsStep,
  postMeterReadingsStep,
  unpostMeterReadingsStep,
  postManualValuesStep,
  uploadUsageStep,
  cancelTermStep,
  generateBillsStep,
  billConnectionStep,
  postBillsStep,
  unpostBillsStep,
  cancelBillStep,
  publishBillsStep,
  distributeBillsStep,
  retryDeliveriesStep,
  postBankLinesStep,
];

export const steps: ReadonlyMap<string, Step> = new Map(all.map((step) => [step.operation, step]));
