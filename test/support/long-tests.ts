// The long files and functions that tests still have, with the lines of the longest. The lists may
// only shrink: a file is divided by topic, under names that tell what is tested.

export const longTestFiles: Record<string, number> = {
  'test/attacks.test.ts': 567,
  'test/billrun/beside-meters.test.ts': 480,
  'test/billrun/cancel-bill.test.ts': 423,
  'test/billrun/catch-up.test.ts': 427,
  'test/billrun/combined.test.ts': 461,
  'test/billrun/generate.test.ts': 539,
  'test/billrun/job-runner.test.ts': 470,
  'test/billrun/post.test.ts': 815,
  'test/billrun/readings-taken.test.ts': 421,
  'test/billrun/terms-beside.test.ts': 474,
  'test/billrun/unposted.test.ts': 589,
  'test/delivery/distribute.test.ts': 930,
  'test/documents/bills.ts': 438,
  'test/faults/gates.test.ts': 429,
  'test/faults/verify.test.ts': 778,
  'test/operations/audit.test.ts': 741,
  'test/operations/connection-changes.test.ts': 707,
  'test/operations/connections.test.ts': 644,
  'test/operations/imports.test.ts': 440,
  'test/operations/jobs.test.ts': 440,
  'test/operations/parties.test.ts': 428,
  'test/operations/readings.test.ts': 463,
  'test/operations/services.test.ts': 553,
  'test/operations/term-readings.test.ts': 543,
  'test/support/random-months.ts': 402,
  'test/support/term-rows.ts': 425,
  'test/tenancy.test.ts': 507,
};

export const longTestFunctions: Record<string, number> = {
  'test/billrun/story-months.test.ts': 72,
  'test/billrun/story.test.ts': 130,
  'test/operations/connections.test.ts': 165,
  'test/operations/owners-privacy.test.ts': 73,
  'test/process/command-line.test.ts': 76,
  'test/support/bill-rows.ts': 80,
  'test/support/supervisor.ts': 80,
  'test/support/term-rows.ts': 88,
};
