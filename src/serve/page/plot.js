// Plots of values by iteration, as SVG: stacked bars, as in reports (src/report/plot.c).
import {h, svg} from './dom.js';
import {duration, figure, usd} from './text.js';

const WIDTH = 560,
	HEIGHT = 190,
	LEFT = 68,
	RIGHT = 8,
	TOP = 12,
	BOTTOM = 24,
	TICKS = 4,
	LABELS = 8;
const TIMES = [1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5];

const UNITS = {
	usd: (value) => usd(value * 1e9),
	ms: (value) => (value > 0 && value < 1000 ? `${Math.round(value)} ms` : duration(value)),
	count: figure,
};

// The distance of the lines across: 1, 2 or 5 times a power of ten; of times, units that people use.
function stepOf(unit, most) {
	const power = 10 ** Math.floor(Math.log10(most / TICKS));
	const time = TIMES.find((each) => each * TICKS >= most);
	const factor = [1, 2, 5, 10].find((each) => power * each * TICKS >= most);

	if (unit === 'ms' && most > 2000 && time) return time;
	return unit === 'count' ? Math.max(1, power * factor) : power * factor;
}

function total(point) {
	return point.values.reduce((sum, value) => sum + value, 0);
}

function axis(unit, top, step) {
	const lines = [];

	for (let i = 0; i <= Math.round(top / step); i++) {
		const y = TOP + (HEIGHT - TOP - BOTTOM) * (1 - (step * i) / top);

		lines.push(
			svg('path', {
				d: `M${LEFT} ${y.toFixed(1)}H${WIDTH - RIGHT}`,
				class: i ? 'grid' : 'axis',
			}),
			svg(
				'text',
				{x: LEFT - 6, y: y + 4, class: 'tick end'},
				i ? UNITS[unit](step * i) : '0',
			),
		);
	}
	return lines;
}

function titleOf(plot, point) {
	const name =
		point.until > point.number
			? `iterations ${point.number} to ${point.until}, average`
			: point.number
				? `iteration ${point.number}`
				: 'before the first iteration';

	return [
		name,
		...plot.series.map(({title}, i) => `${title}: ${UNITS[plot.unit](point.values[i])}`),
	].join('\n');
}

function bar(plot, point, at, top) {
	const slot = (WIDTH - LEFT - RIGHT) / plot.points.length;
	const wide = Math.min(slot > 12 ? slot - 2 : slot * 0.85, 36);
	const x = LEFT + slot * at + (slot - wide) / 2;
	let y = HEIGHT - BOTTOM;

	return svg(
		'g',
		{},
		svg('title', {}, titleOf(plot, point)),
		point.values.map((value, i) => {
			const high = ((HEIGHT - TOP - BOTTOM) * value) / top;

			y -= Math.max(0, high);
			return (
				high > 0 &&
				svg('path', {
					class: plot.series[i].color,
					d: `M${x.toFixed(1)} ${y.toFixed(1)}h${wide.toFixed(1)}v${high.toFixed(1)}h-${wide.toFixed(1)}z`,
				})
			);
		}),
	);
}

function numbers(points) {
	const slot = (WIDTH - LEFT - RIGHT) / points.length;
	const each = Math.ceil(points.length / LABELS);

	return points.map(
		(point, i) =>
			i % each === 0 &&
			svg(
				'text',
				{x: LEFT + slot * (i + 0.5), y: HEIGHT - 8, class: 'tick middle'},
				point.number || 'start',
			),
	);
}

// What the picture says, for those who do not see it.
function summary(plot, most) {
	const last = plot.points[plot.points.length - 1];

	return (
		`${plot.title}: at most ${UNITS[plot.unit](most)}; ` +
		`last ${UNITS[plot.unit](total(last))} in ${plural(last)}`
	);
}

function plural(last) {
	return last.number ? `iteration ${last.until}` : 'the baseline';
}

/**
 * Draws {title, unit, series: [{title, color}], points: [{number, until, values}]}. A point stands
 * for the iterations from `number` to `until`, with their average. A plot without values says so
 * and has the same size.
 */
export function plot(of) {
	const most = Math.max(0, ...of.points.map(total));
	const step = most > 0 ? stepOf(of.unit, most) : 1;
	const top = Math.ceil(most / step - 1e-9) * step;
	const joined = Math.max(0, ...of.points.map((point) => point.until - point.number + 1));

	return h(
		'figure',
		{class: 'plot', key: of.title},
		h(
			'figcaption',
			{},
			of.title,
			of.series.length > 1 &&
				h(
					'span',
					{class: 'legend'},
					of.series.map(({title, color}) =>
						h('span', {}, h('i', {class: `swatch ${color}`}), title),
					),
				),
		),
		svg(
			'svg',
			{
				viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
				role: 'img',
				'aria-label': most > 0 ? summary(of, most) : `${of.title}: nothing yet`,
			},
			most > 0
				? [
						axis(of.unit, top, step),
						of.points.map((point, i) => bar(of, point, i, top)),
						numbers(of.points),
					]
				: svg('text', {x: WIDTH / 2, y: HEIGHT / 2, class: 'tick middle'}, 'nothing yet'),
		),
		most > 0 &&
			joined > 1 &&
			h('p', {class: 'note'}, `Each bar is the average of ${figure(joined)} iterations.`),
	);
}
