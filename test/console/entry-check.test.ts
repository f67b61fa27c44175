// What the entry grid says about a typed reading.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changeOf,
  isOfRegister,
  questionOf,
  stopOf,
  usageOf,
} from '../../console/screens/readings/entry-check.ts';

const line = {
  number: '70012',
  register: 'kWhPeak',
  unit: 'kWh',
  digits: '6',
  kind: 'Cumulative',
  mf: '40',
  previousDate: '30/06/2026',
  previousReading: '100',
  expectedLow: '110',
  expectedHigh: '130',
};
const counter = stopOf(line);

test('the usage of a typed reading is the difference times the factor of the meter', () => {
  assert.equal(usageOf('125', counter), 1_000);
  assert.equal(usageOf('0.1', stopOf({ ...line, previousReading: '0', mf: '3' })), 0.3);
  assert.equal(usageOf('125', stopOf({ ...line, previousReading: '' })), null);
});

test('a register that does not count on shows its usage itself', () => {
  const demand = stopOf({ ...line, register: 'kW', kind: 'Demand' });
  assert.equal(usageOf('25', demand), 1_000);
  assert.equal(usageOf('25', stopOf({ ...line, kind: 'Demand', previousReading: '' })), 1_000);
  const lower = stopOf({ ...line, kind: 'Demand', previousReading: '900' });
  assert.equal(questionOf('120', lower), null);
});

test('usage is compared with the last accepted reading of the same register', () => {
  const past = [
    { register: 'kWhPeak', status: 'Billed', consumption: '3000', days: 30 },
    { register: 'kWhPeak', status: 'Review', consumption: '90000', days: 30 },
    { register: 'kWhOffPeak', status: 'Billed', consumption: '60000', days: 30 },
  ];
  assert.equal(changeOf(4_500, 30, past, counter), 50);
  assert.equal(changeOf(4_500, 30, [], counter), null);
  assert.equal(isOfRegister({ register: 'kWhOffPeak' }, counter), false);
  assert.equal(isOfRegister({ register: 'kWh' }, stopOf({ ...line, register: '' })), true);
});
