// A small electricity context, which the examples of several operations are about.

export const exampleService = {
  name: 'Electricity',
  serviceType: 'Sale',
  chargingType: 'Postpaid',
  postType: 'Post Subscription',
  billingCycle: 1,
  dueDateOffset: 15,
  description: 'Electricity of the town',
  securityDeposit: 500,
  requiredDocs: ['Identity card'],
  billRounding: { scale: 0, mode: 'HalfUp' },
  values: [
    { name: 'unitRate', label: 'Rate per unit', type: 'Number', unit: 'PKR/kWh', default: '20' },
    {
      name: 'energySlabs',
      label: 'Energy slabs',
      type: 'Table',
      columns: ['upTo', 'rate'],
      default: [
        { upTo: '100', rate: '16.48' },
        { upTo: null, rate: '22.95' },
      ],
    },
  ],
  components: [
    {
      name: 'energyCharge',
      label: 'Energy charges',
      type: 'Charge',
      categories: ['taxable'],
      sequence: 10,
      rounding: { scale: 2, mode: 'HalfUp' },
    },
    { name: 'gst', label: 'General sales tax', type: 'Tax', sequence: 20 },
  ],
  connectionInputs: [{ name: 'load', label: 'Sanctioned load (kW)', type: 'Number', required: 1 }],
  meteredInputs: [
    {
      name: 'energy',
      label: 'Energy',
      unit: 'kWh',
      register: 'kWh',
      decimals: 0,
      estimation: { allowed: 1, maxConsecutive: 3 },
      highLow: { highFactor: 3, lowFactor: 0.3 },
    },
  ],
  unmeteredInputs: [{ name: 'lamps', label: 'Lamps', unit: 'lamps', defaultValue: '0' }],
  holdRules: [{ name: 'large', when: 'bill.current > 1000000', reason: 'unusually large' }],
  prepaid: { lowBalance: 100, templateID: 2, disconnect: 1, graceDays: 2 },
  dunning: { steps: [{ daysAfterDue: 10, action: 'List' }], reconnect: 1 },
  bankAccounts: [
    {
      title: 'Collections',
      bankName: 'First Bank',
      accountNumber: '001-2',
      paymentCode: {
        type: 'EMVCo',
        tag: '30',
        guid: 'A000000677010112',
        fields: [{ tag: '01', value: '010753600031508' }],
        name: 'City Power',
        city: 'Bangkok',
        country: 'TH',
      },
    },
  ],
  batches: [{ batchCode: 'B01', label: 'Block A', readingDay: 28 }],
  invoiceTemplate: { templateID: 1 },
  emailTemplate: { templateID: 2 },
} as const;
