//! Louvain community detection by modularity, with a fixed visiting order.
//!
//! A node joins the community that gains most over `resolution` times the expected edge weight.
//! When no node moves, communities become nodes and the search repeats.

/// Smaller modularity gains are rounding errors.
const MIN_GAIN: f64 = 1e-9;
/// Sweeps over all nodes per level; later sweeps move few nodes.
const MAX_SWEEPS: usize = 20;

/// Adjacency lists. Each edge is in both lists, a self-loop once with double weight.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    edges: Vec<Vec<(u32, f64)>>,
}

impl Graph {
    /// Merges parallel edges by adding their weights.
    pub(super) fn new(mut edges: Vec<Vec<(u32, f64)>>) -> Self {
        for list in &mut edges {
            list.sort_by_key(|edge| edge.0);
            list.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
        }
        Self { edges }
    }
}

/// Returns the community of every node, numbered from 0 without gaps.
pub(super) fn detect_communities(graph: &Graph, resolution: f64) -> Vec<u32> {
    let mut member: Vec<u32> = (0..graph.edges.len() as u32).collect();
    let mut level = graph.clone();
    loop {
        let (community, count) = renumber(&move_nodes(&level, resolution));
        member.iter_mut().for_each(|at| *at = community[*at as usize]);
        if count == level.edges.len() {
            return member;
        }
        level = aggregate_graph(&level, &community, count);
    }
}

fn move_nodes(graph: &Graph, resolution: f64) -> Vec<u32> {
    let nodes = graph.edges.len();
    let degree: Vec<f64> =
        graph.edges.iter().map(|edges| edges.iter().map(|(_, weight)| weight).sum()).collect();
    let whole: f64 = degree.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let mut community: Vec<u32> = (0..nodes as u32).collect();
    let mut total = degree.clone();
    let mut drawn = vec![0.0; nodes];
    for _ in 0..MAX_SWEEPS {
        let mut moved = false;
        for node in 0..nodes {
            let own = community[node];
            total[own as usize] -= degree[node];
            let mut touched = vec![own];
            for &(other, weight) in graph.edges[node].iter().filter(|e| e.0 as usize != node) {
                let at = community[other as usize];
                if drawn[at as usize] == 0.0 && at != own {
                    touched.push(at);
                }
                drawn[at as usize] += weight;
            }
            let gain = |at: u32| {
                let expected = resolution * degree[node] * total[at as usize] / whole;
                drawn[at as usize] - expected
            };
            let mut best = (own, gain(own) + MIN_GAIN);
            for &at in &touched[1..] {
                let (worth, tie) = (gain(at), at < best.0 && best.0 != own);
                if worth > best.1 || (worth == best.1 && tie) {
                    best = (at, worth);
                }
            }
            touched.iter().for_each(|at| drawn[*at as usize] = 0.0);
            moved |= best.0 != own;
            community[node] = best.0;
            total[best.0 as usize] += degree[node];
        }
        if !moved {
            break;
        }
    }
    community
}

fn renumber(community: &[u32]) -> (Vec<u32>, usize) {
    let mut number = vec![u32::MAX; community.len()];
    let mut count = 0;
    let numbers = community
        .iter()
        .map(|at| {
            let number = &mut number[*at as usize];
            if *number == u32::MAX {
                *number = count;
                count += 1;
            }
            *number
        })
        .collect();
    (numbers, count as usize)
}

fn aggregate_graph(graph: &Graph, community: &[u32], count: usize) -> Graph {
    let mut edges = vec![Vec::new(); count];
    for (node, list) in graph.edges.iter().enumerate() {
        let from = &mut edges[community[node] as usize];
        from.extend(list.iter().map(|(to, weight)| (community[*to as usize], *weight)));
    }
    Graph::new(edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
        let mut lists = vec![Vec::new(); nodes];
        for &(a, b) in edges {
            lists[a as usize].push((b, 1.0));
            lists[b as usize].push((a, 1.0));
        }
        Graph { edges: lists }
    }

    #[test]
    fn louvain_splits_bridged_triangles_and_isolates_loners() {
        let graph = graph(7, &[(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)]);
        assert_eq!(detect_communities(&graph, 1.0), [0, 0, 0, 1, 1, 1, 2]);
    }

    #[test]
    fn louvain_resolution_controls_community_size() {
        let graph = graph(4, &[(0, 1), (1, 2), (2, 3)]);
        assert_eq!(detect_communities(&graph, 0.1), [0, 0, 0, 0]);
        assert_eq!(detect_communities(&graph, 50.0), [0, 1, 2, 3]);
        assert!(detect_communities(&Graph { edges: Vec::new() }, 1.0).is_empty());
    }
}
