// A plan of the context in services/example-fields.ts, which the examples are about.

export const exampleTariff = {
  serviceCode: 'ELEC',
  code: 'RES-A1',
  name: 'Residential A-1',
  uniqueLabel: 'Residential A-1',
  description: 'Homes',
  planType: 'BASE_PLAN',
  visibility: 'Public',
  valueFormulas: [{ name: 'unitRate', formula: '22.50', fromDate: '01/07/2025' }],
  componentRules: [
    { component: 'energyCharge', formula: 'SLAB(usage.energy, energySlabs, segment.months)' },
    { component: 'gst', scope: 'Term', formula: 'SUMCAT("taxable") * 18%' },
  ],
  usageData: [{ input: 'energy', source: 'Metered', required: 1, estimate: 'Allowed' }],
  securityAttributes: [{ name: 'Security deposit', amount: '1500', refundable: 1 }],
} as const;
