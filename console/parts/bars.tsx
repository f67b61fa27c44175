// Bars with a name and a value each. Loaded when a screen shows some: the library is large.
import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { useMoney } from './amount.tsx';

export type Bar = { label: string; value: number; before?: number };

export function Bars({
  data,
  label,
  before,
}: {
  data: readonly Bar[];
  label: string;
  /** Names the second row of bars, such as last year. */
  before?: string;
}) {
  const { quantity } = useMoney();
  return (
    <BarChart
      h={220}
      data={data.map((one) => ({ ...one }))}
      dataKey="label"
      withLegend={before !== undefined}
      series={[
        { name: 'value', label, color: 'indigo.7' },
        ...(before === undefined ? [] : [{ name: 'before', label: before, color: 'gray.5' }]),
      ]}
      valueFormatter={quantity}
      yAxisProps={{ width: 'auto' }}
      // Without it the upper half of the highest number is cut off.
      barChartProps={{ margin: { top: 12 } }}
      barProps={{ isAnimationActive: false }}
      role="img"
      aria-label={`${label}: ${data.map((one) => `${one.label} ${quantity(one.value)}`).join(', ')}`}
    />
  );
}
