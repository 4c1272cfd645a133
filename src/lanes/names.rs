//! Tool names as small numbers, shared by all runs of an engine.

use hashbrown::HashMap;

use crate::model::Name;

/// A tool's name as a number within one engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(u32);

impl NameId {
    /// Its place among the names of its engine, from 0.
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(0)
    }
}

/// The table of names. Bounded: beyond [`Names::MAX`] distinct names all new ones read `_other`.
#[derive(Debug)]
pub struct Names {
    ids: HashMap<Name, NameId, foldhash::quality::RandomState>,
    texts: Vec<Name>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            ids: HashMap::default(),
            texts: vec![Name::from("_other")],
        }
    }
}

impl Names {
    /// Most names told apart.
    pub const MAX: usize = 65_536;

    /// The number of a name, given out on first sight.
    pub fn id(&mut self, name: &Name) -> NameId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        if self.texts.len() >= Self::MAX {
            return NameId(0);
        }
        let id = NameId(u32::try_from(self.texts.len()).unwrap_or(0));
        self.texts.push(name.clone());
        self.ids.insert(name.clone(), id);
        id
    }

    /// All names, by [`NameId::index`]; only ever appended to.
    pub fn all(&self) -> &[Name] {
        &self.texts
    }

    /// The name of a number, where there is one.
    pub fn get(&self, id: NameId) -> Option<&Name> {
        self.texts.get(id.index())
    }

    /// The name of a number.
    pub fn text(&self, id: NameId) -> Name {
        self.texts
            .get(id.index())
            .or_else(|| self.texts.first())
            .cloned()
            .unwrap_or_default()
    }
}
