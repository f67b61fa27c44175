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

/** As jobs and checks know it, which come by no host name. */
export type JobTenant = Omit<Tenant, 'workspace'>;

type TenantRow = {
  timezone: string;
  currency: string;
  currency_decimals: number;
  clock_offset_ms: number;
};

export function tenantFrom(tenantId: number, row: TenantRow): JobTenant {
  return {
    tenantId,
    timezone: row.timezone,
    currency: row.currency,
    currencyDecimals: row.currency_decimals,
    clockOffsetMs: row.clock_offset_ms,
  };
}
