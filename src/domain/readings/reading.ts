// What a reading is, and which values a register can show.

export const readingTypes = [
  'Actual',
  'Customer',
  'Estimated',
  'Installation',
  'Removal',
  'Final',
  'Check',
  'Automatic',
] as const;
export type ReadingType = (typeof readingTypes)[number];

/** Remarks that readers are offered; they may write others. */
export const readingRemarks = ['Locked premises', 'Meter stopped', 'Unreadable'] as const;

export type ReadingStatus = 'Accepted' | 'Review' | 'Rejected';

const plainValue = /^\+?0*(\d+)(?:\.(\d*?)0*)?$/;

/**
 * The value as the register shows it, without zeros that say nothing; undefined when the register
 * cannot show it: too many digits before or after the point, or below zero.
 */
export function registerValue(
  register: { digits: number; decimals: number },
  value: string,
): string | undefined {
  const match = plainValue.exec(value);
  const [, whole = '', decimals = ''] = match ?? [];
  if (!match || whole.length > register.digits || decimals.length > register.decimals) {
    return undefined;
  }
  return decimals === '' ? whole : `${whole}.${decimals}`;
}

/** What a register can show, for a message. */
export function shownRange({ digits, decimals }: { digits: number; decimals: number }): string {
  const whole = '9'.repeat(digits);
  if (decimals === 0) return `0 to ${whole} without decimals`;
  return `0 to ${whole}.${'9'.repeat(decimals)} with up to ${decimals} decimals`;
}

/** A reading that is about to be stored. */
export type NewReading = {
  assignmentId: number;
  position: number;
  /** Counted from 01/01/1970. */
  day: number;
  /** HH:MM:SS */
  time: string | null;
  value: string;
  type: ReadingType;
  status: ReadingStatus;
  rollover: boolean;
  consumption: string | null;
  days: number | null;
  flags: readonly ReadingFlag[];
  source: string | null;
  remark: string | null;
  imageUrl: string | null;
  externalReference: string | null;
};

/** Why a reading is under review. */
export type ReadingFlag = 'High' | 'Low' | 'Decreased';

/** One that is accepted as it is, with nothing before it to compare it with. */
export function plainReading(
  reading: Pick<NewReading, 'assignmentId' | 'position' | 'day' | 'value'>,
  type: ReadingType,
): NewReading {
  return {
    ...reading,
    time: null,
    type,
    status: 'Accepted',
    rollover: false,
    consumption: null,
    days: null,
    flags: [],
    source: null,
    remark: null,
    imageUrl: null,
    externalReference: null,
  };
}
