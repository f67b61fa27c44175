// Bars with a name and a value each. Loaded when a screen shows some: the library is large.
import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';

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
      barProps={{ isAnimationActive: false }}
      role="img"
      aria-label={`${label}: ${data.map((one) => `${one.label} ${one.value}`).join(', ')}`}
    />
  );
}
