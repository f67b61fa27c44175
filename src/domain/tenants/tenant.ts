/** What nearly every call needs to know of its workspace. */
export type Tenant = {
  tenantId: number;
  workspace: string;
  timezone: string;
  currency: string;
  currencyDecimals: number;
  /** How far a sandbox's clock is ahead of the machine's; 0 for every other workspace. */
  clockOffsetMs: number;
};
