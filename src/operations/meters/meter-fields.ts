// The wire shape of a meter, as it is sent and as it is shown.
import * as Type from 'typebox';
import { formatTimestamp, parseDate } from '../../base/calendar.ts';
import { meterNumberMax, mfMax, type NewMeter } from '../../domain/meters/meter.ts';
import type { MeterRow } from '../../domain/meters/store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { date, filledText, timestamp, ts } from '../fields.ts';

export const meterNumber = Type.Integer({
  minimum: 1,
  maximum: meterNumberMax,
  'x-code': 'INVALID_NUMBER',
  description: 'up to 15 digits',
});

export const mf = Type.Integer({
  minimum: 1,
  maximum: mfMax,
  'x-code': 'INVALID_NUMBER',
  description: 'multiplier factor: usage = difference of two readings x mf',
});

export const brand = filledText({ max: 120 });

/** A new meter, but for its type. */
export const newMeterFields = { number: meterNumber, brand, purchaseDate: date, mf };

export function newMeterFrom(
  sent: { number: number; brand: string; purchaseDate: string; mf: number },
  meterTypeId: number,
): NewMeter {
  const purchaseDate = parseDate(sent.purchaseDate);
  if (!purchaseDate) throw new Error('the schema let an invalid date through');
  const { number, mf } = sent;
  return { number, brand: sent.brand.trim(), meterTypeId, purchaseDate, mf };
}

export const meterFields = {
  meterID: Type.Integer(),
  number: Type.Integer(),
  meterType: Type.String({ description: 'the name of the type' }),
  purchaseDate: Type.Integer({ description: 'YYYYMMDD' }),
  mf: Type.Integer(),
  status: Type.String({ description: 'Active: assigned. InActive: available' }),
  meterHealth: Type.String(),
  createdAt: timestamp,
  createdBy: Type.String(),
  modifiedAt: timestamp,
  modifiedBy: Type.String(),
  ts,
};

export function presentMeter(row: MeterRow, tenant: Tenant) {
  return {
    meterID: row.meter_id,
    number: row.number,
    meterType: row.meter_type,
    purchaseDate: Number(row.purchase_date.replaceAll('-', '')),
    mf: row.mf,
    status: row.status,
    meterHealth: row.health,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
    modifiedAt: formatTimestamp(row.modified_at, tenant.timezone),
    modifiedBy: row.modified_by,
    ts: row.ts,
  };
}
